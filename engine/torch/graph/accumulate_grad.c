/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/accumulate_grad.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/differentiable.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/graph/now.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/tensor/kernels.h"
#include "engine/torch/tensor/sparse.h"
#include "engine/torch/tensor/zero_tensor.h"

typedef struct accumulate_grad {
  td_node node;
  td_tensor *variable; /* (owned reference) */
} accumulate_grad;

/* The layout of .grad: the variable's strides where its elements lie without gaps (of a size of 1
 * they do not matter, unless they are 0), else row-major. */
static bool
obeys_layout(const td_tensor *grad, const td_tensor *variable) {
  if (!td_tensor_is_dense(variable)) return td_tensor_is_contiguous(grad);
  for (int d = 0; d < variable->n_dims; d++) {
    bool matters = variable->sizes[d] != 1 || grad->strides[d] == 0;
    if (matters && grad->strides[d] != variable->strides[d]) return false;
  }
  return true;
}

/* Only if nobody else can see it may a gradient become .grad: the engine holds it once, and once
 * more where post hooks want to see the inputs. */
static bool
is_ours_alone(const td_node *node, const td_tensor *grad) {
  uint32_t expected = td_node_has_hooks(node, TD_HOOKS(post)) ? 2 : 1;
  return td_refcount_get(&grad->refs) <= expected;
}

static bool
may_steal(const td_node *node, const td_tensor *grad, const td_tensor *variable) {
  return !td_grad_mode() && !grad->sparse && is_ours_alone(node, grad) &&
         td_refcount_get(&grad->storage->refs) == 1 && obeys_layout(grad, variable);
}

/* The wrapper of a sparse gradient cannot be taken, what it holds can. */
static bool
may_steal_sparse(const td_node *node, const td_tensor *grad) {
  return !td_grad_mode() && grad->sparse && is_ours_alone(node, grad) &&
         td_refcount_get(&grad->sparse->indices->refs) == 1 &&
         td_refcount_get(&grad->sparse->values->refs) == 1 &&
         td_tensor_is_contiguous(grad->sparse->indices) &&
         td_tensor_is_contiguous(grad->sparse->values);
}

static td_status
new_laid_out_like(const td_tensor *grad, const td_tensor *variable, td_tensor **out,
                  td_error *error) {
  int64_t n = td_tensor_n_elements(grad);
  td_tensor *flat;
  td_status status = td_tensor_new_empty(grad->dtype, grad->device, 1, &n, &flat, error);
  if (status) return status;
  *out = td_tensor_new_view(flat, variable->n_dims, variable->sizes, variable->strides, 0);
  td_tensor_unref(flat);
  return TD_OK;
}

static td_status
copy_gradient(td_tensor *grad, const td_tensor *variable, td_tensor **out, td_error *error) {
  const td_differentiable *operations = td_differentiable_get();
  bool is_laid_out = !grad->sparse && !variable->sparse && td_tensor_is_dense(variable);
  if (!is_laid_out) return operations->clone(grad, out, error);
  td_status status = new_laid_out_like(grad, variable, out, error);
  if (!status) status = operations->copy_into(*out, grad, error);
  return status;
}

/* Where nothing is there yet. */
static td_status
place_gradient(accumulate_grad *self, td_tensor *grad, td_accumulation *mode, td_error *error) {
  td_tensor *placed = NULL;
  td_status status = TD_OK;
  *mode = grad->sparse ? TD_accumulation_sparse : TD_accumulation_copy;
  if (may_steal(&self->node, grad, self->variable)) {
    placed = grad->autograd || grad->base ? td_tensor_detach(grad) : td_tensor_ref(grad);
    *mode = TD_accumulation_steal;
  } else if (may_steal_sparse(&self->node, grad)) {
    placed = td_tensor_detach(grad);
  } else {
    status = copy_gradient(grad, self->variable, &placed, error);
  }
  if (!status) td_grad_set(self->variable, placed);
  td_tensor_unref(placed);
  return status;
}

/* In place, so that .grad stays the same object, but under create_graph, and where a dense gradient
 * comes to a sparse one. */
static td_status
add_gradient(accumulate_grad *self, td_tensor *old, td_tensor *grad, td_accumulation *mode,
             td_error *error) {
  if (!td_grad_mode() && (!old->sparse || grad->sparse)) {
    if (td_tensor_is_zero_tensor(old)) return td_zero_tensor_refuse(error);
    td_kernel_add_into(old, grad);
    td_tensor_bump_by(old, "add_", &self->node);
    *mode = TD_accumulation_in_place;
    return TD_OK;
  }
  td_tensor *sum;
  td_status status = td_differentiable_get()->add(old, grad, &sum, error);
  if (status) return status;
  td_grad_set(self->variable, sum);
  td_tensor_unref(sum);
  *mode = TD_accumulation_out_of_place;
  return TD_OK;
}

/* Looks for values that only the sum made. */
static td_status
add_and_look(accumulate_grad *self, td_tensor *old, td_tensor *grad, td_accumulation *mode,
             td_error *error) {
  if (!td_anomaly_is_on()) return add_gradient(self, old, grad, mode, error);
  unsigned before = td_anomaly_look(old) | td_anomaly_look(grad);
  td_status status = add_gradient(self, old, grad, mode, error);
  td_tensor *sum = td_grad_get(self->variable);
  td_anomaly_note(before, td_anomaly_look(sum),
                  TD_BIRTH(.place = TD_birthplace_accumulate, .node = &self->node));
  td_tensor_unref(sum);
  return status;
}

static td_status
store_gradient(accumulate_grad *self, td_tensor *grad, td_error *error) {
  td_accumulation mode = TD_accumulation_copy;
  td_tensor *old = td_grad_get(self->variable);
  td_status status =
      old ? add_and_look(self, old, grad, &mode, error) : place_gradient(self, grad, &mode, error);
  td_tensor_unref(old);
  if (!status)
    TD_EMIT(accumulate, .node = td_node_id(&self->node), .graph_task = td_graph_task_now_id(),
            .mode = mode);
  return status;
}

/* Under the node's mutex, as in PyTorch: a hook finds .grad as its pass has left it. */
static td_status
call_post_accumulate_hooks(accumulate_grad *self, td_error *error) {
  td_hook_call call = {.node = &self->node, .gradients = &self->variable, .n = 1};
  return td_node_call_hooks(TD_HOOKS(post_accumulate_grad), &call, NULL, NULL, error);
}

static td_status
accept_gradient(accumulate_grad *self, td_tensor *grad, td_error *error) {
  if (!grad) return TD_OK;
  if (td_grad_fn(self->variable))
    return td_error_set(error, TD_AUTOGRAD, "leaf variable has been moved into the graph interior");
  return td_requires_grad(self->variable) ? store_gradient(self, grad, error) : TD_OK;
}

/* The hooks are called even where nothing was stored. */
static td_status
accumulate_grad_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs,
                      td_error *error) {
  accumulate_grad *self = (accumulate_grad *)node;
  td_node_lock(node);
  td_status status = accept_gradient(self, inputs[0], error);
  if (!status && td_node_has_hooks(node, TD_HOOKS(post_accumulate_grad)))
    status = call_post_accumulate_hooks(self, error);
  td_node_unlock(node);
  return status;
}

static void
accumulate_grad_fini(td_node *node) {
  accumulate_grad *self = (accumulate_grad *)node;
  td_variable_forget_accumulator(self->variable, node);
  td_tensor_unref(self->variable);
}

static const td_node_class accumulate_grad_class = {
    .name = "AccumulateGrad",
    .apply = accumulate_grad_apply,
    .fini = accumulate_grad_fini,
};

td_node *
td_accumulate_grad_new(td_tensor *variable) {
  accumulate_grad *self = (accumulate_grad *)td_node_new_raw(&accumulate_grad_class, sizeof *self,
                                                             0, TD_SEQUENCE_NR_MAX);
  self->variable = td_tensor_ref(variable);
  td_node_add_metadata(&self->node, variable);
  return &self->node;
}

td_tensor *
td_accumulate_grad_variable(const td_node *node) {
  return node->klass == &accumulate_grad_class ? ((const accumulate_grad *)node)->variable : NULL;
}
