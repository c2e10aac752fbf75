/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/autograd/accumulate_grad.h"

#include "engine/autograd/anomaly.h"
#include "engine/autograd/differentiable.h"
#include "engine/autograd/graph_task.h"
#include "engine/autograd/hooks.h"
#include "engine/autograd/variable.h"
#include "engine/autograd/variable_private.h"
#include "engine/autograd/version.h"
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/tensor/kernels.h"

typedef struct accumulate_grad {
  td_node node;
  td_tensor *variable; /* (owned reference) */
} accumulate_grad;

/* Strides that .grad should have: the variable's own (sizes of 1 do not matter). */
static bool
obeys_layout(const td_tensor *grad, const td_tensor *variable) {
  for (int d = 0; d < variable->n_dims; d++)
    if (variable->sizes[d] != 1 && grad->strides[d] != variable->strides[d]) return false;
  return true;
}

/* May the gradient become .grad as it is? Only if nobody else can see it: the engine holds it once,
 * and once more where post hooks want to see the inputs. */
static bool
may_steal(const td_node *node, const td_tensor *grad, const td_tensor *variable) {
  uint32_t expected = td_node_has_hooks(node, TD_HOOKS(post)) ? 2 : 1;
  return !td_grad_mode() && !grad->autograd && td_refcount_get(&grad->refs) <= expected &&
         td_refcount_get(&grad->storage->refs) == 1 && obeys_layout(grad, variable);
}

static td_status
copy_gradient(td_tensor *grad, const td_tensor *variable, td_tensor **out, td_error *error) {
  if (td_grad_mode()) return td_differentiable_get()->clone(grad, out, error);
  td_status status = td_tensor_new_like(variable, out, error);
  if (!status) td_kernel_copy(*out, grad);
  return status;
}

/* Adds to what is there, and looks for values that only the sum made. */
static td_status
add_gradient(accumulate_grad *self, td_tensor *old, td_tensor *grad, td_accumulation *mode,
             td_error *error) {
  unsigned before = td_anomaly_look(old) | td_anomaly_look(grad);
  td_tensor *sum = old;
  td_status status = TD_OK;
  if (td_grad_mode()) {
    status = td_differentiable_get()->add(old, grad, &sum, error);
    if (status) return status;
    td_grad_set(self->variable, sum);
    *mode = TD_accumulation_out_of_place;
  } else {
    td_kernel_add_into(old, grad);
    td_tensor_bump_by(old, "add_", &self->node);
    *mode = TD_accumulation_in_place;
  }
  td_anomaly_note(before, td_anomaly_look(sum),
                  TD_BIRTH(.place = TD_birthplace_accumulate, .node = &self->node));
  if (sum != old) td_tensor_unref(sum);
  return status;
}

static td_status
place_gradient(accumulate_grad *self, td_tensor *grad, td_accumulation *mode, td_error *error) {
  td_tensor *old = td_grad_get(self->variable);
  if (old) {
    td_status status = add_gradient(self, old, grad, mode, error);
    td_tensor_unref(old);
    return status;
  }
  if (may_steal(&self->node, grad, self->variable)) {
    td_grad_set(self->variable, grad);
    *mode = TD_accumulation_steal;
    return TD_OK;
  }
  td_tensor *copy;
  td_status status = copy_gradient(grad, self->variable, &copy, error);
  if (status) return status;
  td_grad_set(self->variable, copy);
  td_tensor_unref(copy);
  *mode = TD_accumulation_copy;
  return TD_OK;
}

static td_status
store_gradient(accumulate_grad *self, td_tensor *grad, td_error *error) {
  td_accumulation mode = TD_accumulation_copy;
  td_status status = place_gradient(self, grad, &mode, error);
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
accumulate_grad_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs,
                      td_error *error) {
  accumulate_grad *self = (accumulate_grad *)node;
  td_tensor *grad = inputs[0];
  if (!grad) return TD_OK;
  if (td_grad_fn(self->variable))
    return td_error_set(error, TD_AUTOGRAD, "leaf variable has been moved into the graph interior");
  if (!td_requires_grad(self->variable)) return TD_OK;
  pthread_mutex_lock(&node->mutex);
  td_status status = store_gradient(self, grad, error);
  if (!status && td_node_has_hooks(node, TD_HOOKS(post_accumulate_grad)))
    status = call_post_accumulate_hooks(self, error);
  pthread_mutex_unlock(&node->mutex);
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
