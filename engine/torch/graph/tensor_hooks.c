/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/tensor_hooks.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/autograd_meta.h"
#include "engine/torch/graph/differentiable.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"

/* The leaf's lists, made on first use, and known to its AccumulateGrad if there is one. */
static td_hooks *
hooks_of_leaf(td_tensor *leaf) {
  td_autograd_meta *meta = td_autograd_meta_get(leaf); /* a view without history may have none */
  pthread_mutex_lock(&meta->mutex);
  if (!meta->hooks) meta->hooks = td_hooks_new();
  pthread_mutex_unlock(&meta->mutex);
  td_node *accumulator = td_grad_accumulator_find(leaf);
  if (accumulator) td_node_add_leaf_hooks(accumulator, meta->hooks);
  td_node_unref(accumulator);
  return meta->hooks;
}

/* Before PyTorch 2 all hooks of a tensor were one list, on the node of the first of them. Until
 * PyTorch 2.15 so are a view's until it gets a new grad_fn. Until somebody asks for that after a
 * write into its base, hooks that are added do not run. NULL: it is a leaf. */
static td_node *
node_for_hooks(td_tensor *tensor) {
  if (tensor->autograd && tensor->autograd->hooked) return tensor->autograd->hooked;
  td_node *node = td_grad_fn(tensor);
  bool is_own = !tensor->base || td_policy(hooks_of_stale_views);
  if (!node || (td_policy(separate_hooks) && is_own)) return node;
  td_autograd_meta *meta = tensor->autograd;
  pthread_mutex_lock(&meta->mutex);
  if (!meta->hooked) {
    meta->hooked = td_node_ref(node);
    meta->hooked_nr = meta->output_nr;
  }
  pthread_mutex_unlock(&meta->mutex);
  return meta->hooked;
}

td_status
td_tensor_add_hook(td_tensor *tensor, td_hook *hook, td_error *error) {
  if (!td_requires_grad(tensor))
    return td_error_set(error, TD_INVALID,
                        "cannot register a hook on a tensor that doesn't require gradient");
  td_node *node = node_for_hooks(tensor);
  if (!node) {
    td_hooks_add(hooks_of_leaf(tensor), hook, TD_hook_kind_tensor_pre, 0);
    return TD_OK;
  }
  uint32_t input_nr = tensor->autograd->hooked ? tensor->autograd->hooked_nr : td_output_nr(tensor);
  td_node_add_hook(node, hook, TD_hook_kind_tensor_pre, input_nr);
  return TD_OK;
}

td_status
td_tensor_add_post_accumulate_grad_hook(td_tensor *leaf, td_hook *hook, td_error *error) {
  if (!td_requires_grad(leaf))
    return td_error_set(error, TD_INVALID,
                        "cannot register a hook on a tensor that doesn't require gradient");
  if (!td_is_leaf(leaf))
    return td_error_set(error, TD_INVALID,
                        "post accumulate grad hooks cannot be registered on non-leaf tensors");
  td_hooks_add(hooks_of_leaf(leaf), hook, TD_hook_kind_post_accumulate_grad, 0);
  return TD_OK;
}

typedef struct retain_hook {
  td_hook hook;
  td_weak_tensor *tensor; /* (owned reference) */
} retain_hook;

static td_status
refuse_missing(td_error *error) {
  return td_error_set(error, TD_INVALID,
                      "Expected a proper Tensor but got None (or an undefined Tensor in C++) for "
                      "argument #0 'self'");
}

static td_status
keep_sum(td_tensor *tensor, td_tensor *grad, td_error *error) {
  td_tensor *old = td_grad_get(tensor), *kept = NULL;
  td_status status = old ? td_differentiable_get()->add(old, grad, &kept, error)
                         : td_differentiable_get()->clone(grad, &kept, error);
  if (!status) td_grad_set(tensor, kept);
  td_tensor_unref(kept);
  td_tensor_unref(old);
  return status;
}

static td_status
retain_call(td_hook *hook, const td_hook_call *call, td_error *error) {
  td_tensor *grad = call->gradients[0];
  td_tensor *tensor = td_weak_tensor_get(((retain_hook *)hook)->tensor);
  td_status status = TD_OK;
  if (tensor && grad)
    status = keep_sum(tensor, grad, error);
  else if (tensor && !td_policy(missing_grad_is_kept))
    status = refuse_missing(error);
  td_tensor_unref(tensor);
  return status;
}

static void
retain_free(td_hook *hook) {
  td_weak_tensor_unref(((retain_hook *)hook)->tensor);
  free(hook);
}

static td_hook *
retain_hook_new(td_weak_tensor *tensor) {
  retain_hook *self = TD_NEW(retain_hook);
  td_hook_init(&self->hook, retain_call, retain_free, td_dup_string("retain_grad"));
  self->tensor = td_weak_tensor_ref(tensor);
  return &self->hook;
}

td_status
td_retain_grad(td_tensor *tensor, td_error *error) {
  if (!td_requires_grad(tensor))
    return td_error_set(error, TD_INVALID,
                        "can't retain_grad on Tensor that has requires_grad=False");
  if (!td_grad_fn_stored(tensor) || td_retains_grad(tensor)) return TD_OK;
  td_node *node = td_grad_fn(tensor); /* of a view, brought up to date */
  if (!tensor->autograd->weak) tensor->autograd->weak = td_weak_tensor_new(tensor);
  tensor->autograd->retained = retain_hook_new(tensor->autograd->weak);
  td_node_add_hook(node, tensor->autograd->retained, TD_hook_kind_retains_grad,
                   td_output_nr(tensor));
  return TD_OK;
}

bool
td_retains_grad(const td_tensor *tensor) {
  return tensor->autograd && tensor->autograd->retained && td_grad_fn_stored(tensor);
}

td_hooks *
td_tensor_leaf_hooks(const td_tensor *leaf) {
  return leaf->autograd ? leaf->autograd->hooks : NULL;
}
