/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/variants/distributed_context.h"

#include "engine/base/alloc.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"
#include "engine/torch/tensor/sparse.h"

/* The references to a captured gradient while its hook runs: the buffer's, the capture's, the
 * call's. */
#define EXPECTED_REFS 3

td_dist_context *
td_dist_context_new(int64_t id, int64_t worker_id) {
  td_dist_context *context = TD_NEW(td_dist_context);
  td_refcount_init(&context->refs);
  pthread_mutex_init(&context->mutex, NULL);
  context->id = id;
  context->worker_id = worker_id;
  return context;
}

td_dist_context *
td_dist_context_ref(td_dist_context *context) {
  td_refcount_inc(&context->refs);
  return context;
}

/* What a context forgets; freed without its mutex, because hooks hold the context. */
typedef struct forgotten {
  td_graph_task *graph_task;
  td_node *root, *dummy;
} forgotten;

static forgotten
forget_locked(td_dist_context *context) {
  forgotten pass = {context->graph_task, context->root, context->dummy};
  context->graph_task = NULL;
  context->dummy = context->root = NULL;
  return pass;
}

static void
forgotten_free(forgotten pass) {
  if (!pass.graph_task) return;
  TD_EMIT(graph_task_end, .graph_task = pass.graph_task->handle.id,
          .status = pass.graph_task->result ? TD_task_status_error : TD_task_status_ok);
  td_graph_task_unref(pass.graph_task);
  td_node_unref(pass.dummy);
  td_node_unref(pass.root);
}

void
td_dist_context_end_pass(td_dist_context *context) {
  pthread_mutex_lock(&context->mutex);
  forgotten pass = forget_locked(context);
  pthread_mutex_unlock(&context->mutex);
  forgotten_free(pass);
}

void
td_dist_context_release(td_dist_context *context) {
  pthread_mutex_lock(&context->mutex);
  size_t n = context->n_sends;
  td_node **sends = context->sends;
  context->is_released = true;
  context->sends = NULL;
  context->n_sends = context->sends_capacity = 0;
  forgotten pass = forget_locked(context);
  pthread_mutex_unlock(&context->mutex);
  forgotten_free(pass);
  for (size_t i = 0; i < n; i++)
    td_node_unref(sends[i]);
  free(sends);
}

void
td_dist_context_unref(td_dist_context *context) {
  if (!td_refcount_dec(&context->refs)) return;
  td_dist_context_release(context);
  for (size_t i = 0; i < context->n_gradients; i++) {
    td_tensor_unref(context->gradients[i].leaf);
    td_tensor_unref(context->gradients[i].sum);
  }
  free(context->gradients);
  pthread_mutex_destroy(&context->mutex);
  free(context);
}

td_tensor *
td_dist_gradient(td_dist_context *context, const td_tensor *leaf) {
  td_tensor *sum = NULL;
  pthread_mutex_lock(&context->mutex);
  for (size_t i = 0; i < context->n_gradients; i++)
    if (context->gradients[i].leaf == leaf) sum = td_tensor_ref(context->gradients[i].sum);
  pthread_mutex_unlock(&context->mutex);
  return sum;
}

td_dist_sum *
td_dist_gradients(td_dist_context *context, size_t *n) {
  pthread_mutex_lock(&context->mutex);
  *n = context->n_gradients;
  td_dist_sum *sums = TD_NEW_N(td_dist_sum, *n + 1);
  for (size_t i = 0; i < *n; i++)
    sums[i] = (td_dist_sum){td_tensor_ref(context->gradients[i].leaf),
                            td_tensor_ref(context->gradients[i].sum)};
  pthread_mutex_unlock(&context->mutex);
  return sums;
}

static td_status
first_of(td_tensor *gradient, td_tensor **sum, td_error *error) {
  if (td_refcount_get(&gradient->refs) <= EXPECTED_REFS &&
      td_refcount_get(&gradient->storage->refs) == 1) {
    *sum = td_tensor_ref(gradient);
    return TD_OK;
  }
  td_status status = td_tensor_new_like(gradient, sum, error);
  if (!status) td_kernel_copy(*sum, gradient);
  return status;
}

td_status
td_dist_accumulate(td_dist_context *context, td_tensor *leaf, td_tensor *gradient,
                   td_error *error) {
  td_status status = TD_OK;
  td_dist_sum *found = NULL;
  if (td_tensor_is_sparse(gradient))
    return td_error_set(error, TD_UNSUPPORTED,
                        "distributed backward: sparse gradients are not supported");
  pthread_mutex_lock(&context->mutex);
  for (size_t i = 0; i < context->n_gradients; i++)
    if (context->gradients[i].leaf == leaf) found = &context->gradients[i];
  td_tensor *sum = NULL;
  if (found)
    td_kernel_add_into(found->sum, gradient);
  else
    status = first_of(gradient, &sum, error);
  if (sum) {
    TD_GROW(context->gradients, context->n_gradients, context->gradients_capacity);
    context->gradients[context->n_gradients++] = (td_dist_sum){td_tensor_ref(leaf), sum};
  }
  pthread_mutex_unlock(&context->mutex);
  return status;
}
