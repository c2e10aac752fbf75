/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/pass/variants/distributed.h"

#include "engine/base/alloc.h"
#include "engine/graph/accumulate_grad.h"
#include "engine/graph/graph_root.h"
#include "engine/graph/variable.h"
#include "engine/pass/engine.h"
#include "engine/pass/exec_info.h"
#include "engine/pass/variants/distributed_private.h"
#include "engine/tensor/kernels.h"
#include "engine/tensor/sparse.h"

#include <inttypes.h>

/* What a captured gradient is held by while its hook runs: the buffer, the capture, the call. */
#define EXPECTED_REFS 3

/* nodes */

static td_status
send_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  for (uint32_t i = 0; i < node->n_outputs; i++)
    outputs[i] = td_tensor_ref(inputs[i]);
  return TD_OK;
}

static const td_node_class send_class = {.name = "SendRpcBackward", .apply = send_apply};

td_node *
td_dist_send_new(td_dist_context *context, td_tensor *const *sent, uint32_t n_sent) {
  td_node *send = td_node_new(&send_class, sizeof *send, sent, n_sent);
  for (uint32_t i = 0; i < n_sent; i++)
    td_node_add_metadata(send, sent[i]);
  TD_GROW(context->sends, context->n_sends, context->sends_capacity);
  context->sends[context->n_sends++] = td_node_ref(send);
  return send;
}

typedef struct receive_node {
  td_node node;
  td_dist_deliver deliver;
  void *data;
} receive_node;

static td_status
receive_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  receive_node *self = (receive_node *)node;
  return self->deliver(self->data, inputs, node->n_inputs, error);
}

static const td_node_class receive_class = {.name = "RecvRpcBackward", .apply = receive_apply};

td_node *
td_dist_receive_new(td_tensor *const *received, uint32_t n, td_dist_deliver deliver, void *data) {
  receive_node *self =
      (receive_node *)td_node_new_raw(&receive_class, sizeof *self, 0, td_sequence_nr_next());
  self->deliver = deliver;
  self->data = data;
  for (uint32_t i = 0; i < n; i++)
    td_node_add_input(&self->node, received[i]);
  return &self->node;
}

/* contexts */

td_dist_context *
td_dist_context_new(int64_t worker_id) {
  td_dist_context *context = TD_NEW(td_dist_context);
  td_refcount_init(&context->refs);
  pthread_mutex_init(&context->mutex, NULL);
  context->worker_id = worker_id;
  return context;
}

td_dist_context *
td_dist_context_ref(td_dist_context *context) {
  td_refcount_inc(&context->refs);
  return context;
}

void
td_dist_context_unref(td_dist_context *context) {
  if (!td_refcount_dec(&context->refs)) return;
  if (context->graph_task) {
    TD_EMIT(graph_task_end, .graph_task = context->graph_task->id,
            .status = context->graph_task->result ? TD_task_status_error : TD_task_status_ok);
    td_graph_task_unref(context->graph_task);
  }
  td_node_unref(context->dummy);
  td_node_unref(context->root);
  for (size_t i = 0; i < context->n_sends; i++)
    td_node_unref(context->sends[i]);
  for (size_t i = 0; i < context->n_gradients; i++) {
    td_tensor_unref(context->gradients[i].leaf);
    td_tensor_unref(context->gradients[i].sum);
  }
  free(context->sends);
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

/* What stands in for AccumulateGrad: its hooks, and the context in place of .grad. */
typedef struct accumulate_hook {
  td_hook hook;
  td_dist_context *context; /* (borrowed: it holds the graph task) */
} accumulate_hook;

static td_status
accumulate_call(td_hook *hook, const td_hook_call *call, td_error *error) {
  accumulate_hook *self = (accumulate_hook *)hook;
  td_status status = TD_OK;
  if (td_node_has_hooks(call->node, TD_HOOKS(pre)))
    status = td_node_call_hooks(TD_HOOKS(pre), call, NULL, NULL, error);
  td_tensor *gradient = call->gradients[0];
  if (status || !gradient) return status;
  td_tensor_ref(gradient); /* as PyTorch's call holds it */
  status =
      td_dist_accumulate(self->context, td_accumulate_grad_variable(call->node), gradient, error);
  if (!status && td_node_has_hooks(call->node, TD_HOOKS(post))) {
    td_hook_call after = {.node = call->node, .inputs = &gradient, .n_inputs = 1};
    status = td_node_call_hooks(TD_HOOKS(post), &after, NULL, NULL, error);
  }
  td_tensor_unref(gradient);
  return status;
}

static void
accumulate_free(td_hook *hook) {
  free(hook);
}

static td_hook *
accumulate_hook_new(td_dist_context *context) {
  accumulate_hook *self = TD_NEW(accumulate_hook);
  td_hook_init(&self->hook, accumulate_call, accumulate_free, td_dup_string("distributed"));
  self->context = context;
  return &self->hook;
}

/* preparation */

/* The nodes that were seen, in the order of their distance, and the ends of the graph. */
typedef struct search {
  td_node **nodes; /* (owned) */
  size_t n, capacity;
  td_edge *ends; /* (owned; borrowed nodes) */
  size_t n_ends, ends_capacity;
} search;

static td_status
see(search *self, td_edge edge, td_error *error) {
  TD_GROW(self->nodes, self->n, self->capacity);
  self->nodes[self->n++] = edge.node;
  if (edge.node->n_outputs > 0) return TD_OK;
  if (!td_accumulate_grad_variable(edge.node) && edge.node->klass != &receive_class)
    return td_error_set(error, TD_AUTOGRAD,
                        "dynamic_cast<AccumulateGrad*>(nextFn) || "
                        "dynamic_cast<RecvRpcBackward*>(nextFn) INTERNAL ASSERT FAILED");
  TD_GROW(self->ends, self->n_ends, self->ends_capacity);
  self->ends[self->n_ends++] = edge;
  return TD_OK;
}

/* Breadth first: counts edges as td_graph_task_compute_dependencies does. */
static td_status
count_edges(td_graph_task *graph_task, search *self, td_error *error) {
  td_status status = TD_OK;
  for (size_t i = 0; i < self->n && !status; i++)
    for (uint32_t k = 0; k < self->nodes[i]->n_outputs && !status; k++) {
      td_edge edge = self->nodes[i]->next_edges[k];
      if (!edge.node) continue;
      bool is_new, was_seen;
      td_node_entry *entry = td_node_table_add(&graph_task->nodes, edge.node, &is_new);
      was_seen = entry->in_graph;
      entry->dependencies++;
      entry->has_dependencies = entry->in_graph = true;
      if (!was_seen) status = see(self, edge, error);
    }
  return status;
}

static td_node *
join_roots(td_dist_context *context) {
  td_edge *edges = TD_NEW_N(td_edge, context->n_sends + 1);
  uint32_t n = 0;
  for (size_t i = 0; i < context->n_sends; i++)
    edges[n++] = (td_edge){context->sends[i], 0};
  edges[n++] = (td_edge){context->root, 0};
  td_tensor **nothing = TD_NEW_N(td_tensor *, n);
  td_node *dummy = td_graph_root_new(edges, nothing, n);
  free(nothing);
  free(edges);
  return dummy;
}

/* Gradients of leaves are captured into the context; receive functions run. */
static void
choose_what_runs(td_dist_context *context, const search *found) {
  td_graph_task *graph_task = context->graph_task;
  bool is_new;
  context->dummy = join_roots(context);
  td_node_table_add(&graph_task->nodes, context->dummy, &is_new);
  td_graph_task_set_wanted(graph_task, (uint32_t)found->n_ends);
  td_graph_task_init_to_execute(graph_task, context->dummy, found->ends, (uint32_t)found->n_ends,
                                0);
  for (size_t i = 0; i < found->n_ends; i++) {
    td_node_entry *entry = td_node_table_find(&graph_task->nodes, found->ends[i].node);
    entry->needed |= entry->node->klass == &receive_class;
    for (td_capture *capture = entry->captures; capture && !entry->needed; capture = capture->next)
      if (!capture->hook) capture->hook = accumulate_hook_new(context);
  }
}

static void
emit_begin(const td_dist_context *context, bool retain_graph) {
  td_node_announce(context->root);
  TD_EMIT(graph_task_begin, .graph_task = context->graph_task->id, .owner = TD_NONE,
          .keep_graph = retain_graph, .root = td_node_id(context->root),
          .n_roots = context->root->n_outputs);
  td_graph_task_emit_dependencies(context->graph_task);
}

static td_status
prepare_locked(td_dist_context *context, td_node *root, bool retain_graph, td_error *error) {
  td_execute_options options = {.keep_graph = retain_graph};
  td_graph_task *graph_task = td_graph_task_new(&options, 0, td_dist_global_queue());
  graph_task->owner = TD_CPU;
  graph_task->exit_on_error = true;
  context->graph_task = graph_task;
  context->root = td_node_ref(root);
  search found = {0};
  for (size_t i = 0; i <= context->n_sends; i++) {
    bool is_new;
    td_node *begin = i == 0 ? root : context->sends[i - 1];
    td_node_table_add(&graph_task->nodes, begin, &is_new);
    TD_GROW(found.nodes, found.n, found.capacity);
    found.nodes[found.n++] = begin;
    if (i > 0) td_graph_task_count_push(graph_task);
  }
  td_status status = count_edges(graph_task, &found, error);
  if (!status) emit_begin(context, retain_graph);
  if (!status && found.n_ends > 0) choose_what_runs(context, &found);
  free(found.nodes);
  free(found.ends);
  return status;
}

static void
forget_locked(td_dist_context *context) {
  td_graph_task_unref(context->graph_task);
  td_node_unref(context->root);
  context->graph_task = NULL;
  context->root = NULL;
}

/* Once for each context, by whoever comes first. */
static td_status
prepare(td_dist_context *context, td_node *root, bool retain_graph, td_error *error) {
  td_status status = TD_OK;
  pthread_mutex_lock(&context->mutex);
  if (!context->graph_task) {
    status = prepare_locked(context, root, retain_graph, error);
    if (status) forget_locked(context);
  }
  pthread_mutex_unlock(&context->mutex);
  return status;
}

static td_status
check_roots(td_tensor *const *roots, uint32_t n_roots, td_error *error) {
  if (n_roots == 0)
    return td_error_set(error, TD_AUTOGRAD, "No tensors provided for gradient computation.");
  for (uint32_t i = 0; i < n_roots; i++) {
    if (!td_requires_grad(roots[i]))
      return td_error_set(error, TD_AUTOGRAD, "requires_grad not set on root");
    if (td_tensor_n_elements(roots[i]) != 1)
      return td_error_set(error, TD_AUTOGRAD, " is not a scalar, all roots need to be scalar");
    if (td_is_leaf(roots[i]))
      return td_error_set(error, TD_AUTOGRAD, " does not have a valid gradient function.");
  }
  return TD_OK;
}

static td_status
make_root(td_tensor *const *roots, uint32_t n, td_node **root, td_error *error) {
  td_edge *edges = TD_NEW_N(td_edge, n);
  td_tensor **ones = TD_NEW_N(td_tensor *, n);
  td_status status = TD_OK;
  for (uint32_t i = 0; i < n && !status; i++) {
    edges[i] = td_gradient_edge(roots[i]);
    status = td_tensor_new_like(roots[i], &ones[i], error);
    if (!status) td_tensor_set(ones[i], 0, 1);
  }
  if (!status) *root = td_graph_root_new(edges, ones, n);
  for (uint32_t i = 0; i < n; i++) {
    td_node_unref(edges[i].node);
    td_tensor_unref(ones[i]);
  }
  free(ones);
  free(edges);
  return status;
}

/* The error stays the graph task's, for others may ask for it too. */
static td_status
outcome(td_dist_context *context, td_error *error) {
  td_graph_task *graph_task = context->graph_task;
  if (!td_graph_task_is_done(graph_task) || !graph_task->result) return TD_OK;
  return td_error_set(error, graph_task->result, "Error on Node %" PRId64 ": %s",
                      context->worker_id, td_error_text(&graph_task->error));
}

td_status
td_dist_execute(td_dist_context *context, td_tensor *const *roots, uint32_t n_roots,
                bool retain_graph, td_error *error) {
  td_node *root = NULL;
  td_status status = check_roots(roots, n_roots, error);
  if (!status) status = make_root(roots, n_roots, &root, error);
  if (status) return status;
  status = prepare(context, root, retain_graph, error);
  if (!status) {
    td_dist_run(context->graph_task, root, NULL, true);
    td_graph_task_wait(context->graph_task);
    status = outcome(context, error);
  }
  td_node_unref(root);
  return status;
}

td_status
td_dist_execute_send(td_dist_context *context, td_node *send, td_tensor *const *gradients,
                     bool retain_graph, td_error *error) {
  td_node *nothing = td_graph_root_new(NULL, NULL, 0);
  td_status status = prepare(context, nothing, retain_graph, error);
  td_node_unref(nothing);
  if (status) return status;
  td_input_buffer *buffer = td_input_buffer_new(send->n_inputs);
  for (uint32_t i = 0; i < send->n_inputs; i++)
    buffer->slots[i] = td_input_slot_new(td_tensor_ref(gradients[i]), 0, TD_NO_CONTRIBUTOR);
  td_dist_run(context->graph_task, send, buffer, false);
  return outcome(context, error);
}
