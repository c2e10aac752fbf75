/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hooks of nodes and leaves, as events of their own. When a node with hooks is first evaluated, the
 * observer takes over the call operator of each of their classes. A hook may come later, from a pre
 * hook or from the node's own function. So the observer looks for leaf hooks again before the
 * function, and for post hooks behind it. */
#pragma once

#include "engine/probe/observer/gradients.hpp"
#include "engine/probe/observer/graph.hpp"
#include "engine/probe/observer/shared.hpp"

namespace tapedeck {

using PreHookCall = variable_list (*)(FunctionPreHook *, const variable_list &);
using PostHookCall = variable_list (*)(FunctionPostHook *, const variable_list &,
                                       const variable_list &);

/* Whose lambda it is: "c10d::Reducer" of "c10d::Reducer::Reducer(...)::{lambda...}". */
inline std::string
owner_of_lambda(const std::type_info &type) {
  std::string name = demangle(type.name());
  size_t arguments = name.find('(');
  size_t method = name.rfind("::", arguments);
  return name.substr(0, method == std::string::npos ? arguments : method);
}

inline uint32_t
name_of_lambda(const FunctionPostHook *hook) {
  const auto *lambda = static_cast<const torch::autograd::utils::LambdaPostHook *>(hook);
  return td_probe_intern(owner_of_lambda(lambda->fn_.target_type()).c_str());
}

struct Hooking {
  uint32_t node;
  td_hook_kind kind;
  uint64_t began;
  Hooking(uint32_t node, td_hook_kind kind, uint32_t owner) : node(node), kind(kind) {
    EMIT(hook_begin, TIME_NOW, node, kind, owner);
    began = begin_stretch();
  }
  ~Hooking() {
    end_stretch(began);
    EMIT(hook_end, TIME_NOW, node, kind);
  }
};

/* To the engine, all hooks that Python has on one tensor, or before or behind one node, are one. It
 * calls each function through PyObject_CallObject, with the GIL. There it gets its name and its two
 * events. So the time that the thread waits for the GIL is not the function's. */
struct HookList {
  Thread *thread;
  HookList *outer;
  uint32_t node;
  td_hook_kind kind;
  uint32_t n_called = 0, name = 0; /* of the last one called */

  HookList(Thread *thread, uint32_t node, td_hook_kind kind)
      : thread(thread), outer(thread->hook_list), node(node), kind(kind) {
    thread->hook_list = this;
  }
  ~HookList() {
    thread->hook_list = outer;
  }

  void *call(void *callable, void *arguments) {
    name = td_probe_name_hook(callable);
    n_called++;
    thread->hook_list = nullptr;
    Hooking hooking(node, kind, name);
    void *result = python_call(callable, arguments);
    thread->hook_list = this;
    return result;
  }

  /* Whose gradients these are, as far as one can say. */
  uint32_t name_or(uint32_t list) const {
    return n_called == 1 && name ? name : list;
  }
};

inline void *
call_object_hook(void *callable, void *arguments) {
  HookList *list = thread_self ? thread_self->hook_list : nullptr;
  return LIKELY(!list) ? python_call(callable, arguments) : list->call(callable, arguments);
}

/* Calls a hook between its events. It returns the name for who reads what the hook gave back. */
template <class Call>
inline uint32_t
call_between(const HookClass *found, const Evaluation *evaluation, td_hook_kind kind, uint32_t name,
             Call call) {
  if (found->is_python) {
    HookList list(thread_self, evaluation->id, kind);
    call();
    return list.name_or(name);
  }
  Hooking hooking(evaluation->id, kind, name);
  call();
  return name;
}

/* The evaluation that a hook is called in, or NULL: hooks may be called by anybody. */
inline Evaluation *
evaluation_now() {
  return td_probe_is_on() && thread_self ? thread_self->evaluation : nullptr;
}

inline td_hook_kind
kind_of_pre_hook(const Node *node, const FunctionPreHook *hook) {
  for (const auto &own : node->pre_hooks_)
    if (own.get() == hook) return TD_hook_kind_pre;
#if TORCH_AT_LEAST(2, 0)
  for (const auto &retaining : node->retains_grad_hooks_)
    if (retaining.second.get() == hook) return TD_hook_kind_retains_grad;
#endif
  return TD_hook_kind_tensor_pre;
}

inline variable_list
pre_hook(FunctionPreHook *self, const variable_list &gradients) {
  const HookClass *found = classes->find_hook(self);
  PreHookCall call = reinterpret_cast<PreHookCall>(found->call);
  Evaluation *evaluation = evaluation_now();
  if (!evaluation) return call(self, gradients);
  variable_list changed;
  Shared shared(gradients);
  uint32_t name = call_between(found, evaluation, kind_of_pre_hook(evaluation->node, self),
                               found->name, [&] { changed = call(self, gradients); });
  shared.tell(evaluation, name, id_of);
  numerics_hook_end(false, name, changed);
  return changed;
}

inline variable_list
post_hook(FunctionPostHook *self, const variable_list &outputs, const variable_list &inputs) {
  const HookClass *found = classes->find_hook(self);
  PostHookCall call = reinterpret_cast<PostHookCall>(found->call);
  Evaluation *evaluation = evaluation_now();
  if (!evaluation) return call(self, outputs, inputs);
  uint32_t name = found->is_lambda ? name_of_lambda(self) : found->name;
  variable_list changed;
  name = call_between(found, evaluation, TD_hook_kind_post, name,
                      [&] { changed = call(self, outputs, inputs); });
  numerics_hook_end(true, name, changed);
  note_outputs(evaluation, changed, true);
  return changed;
}

inline void
meet_pre_hook(const FunctionPreHook *hook) {
  if (!hook) return;
  auto slot = vtable_slot(&FunctionPreHook::operator());
  classes->of_hook(hook, typeid(*hook), slot, reinterpret_cast<void *>(pre_hook));
}

inline void
meet_post_hook(const FunctionPostHook *hook) {
  if (!hook) return;
  auto slot = vtable_slot(&FunctionPostHook::operator());
  classes->of_hook(hook, typeid(*hook), slot, reinterpret_cast<void *>(post_hook));
}

#if TORCH_AT_LEAST(2, 1)
using LeafHookCall = void (*)(PostAccumulateGradHook *, const Tensor &);

inline void
leaf_hook(PostAccumulateGradHook *self, const Tensor &leaf) {
  const HookClass *found = classes->find_hook(self);
  LeafHookCall call = reinterpret_cast<LeafHookCall>(found->call);
  Evaluation *evaluation = evaluation_now();
  if (!evaluation) return call(self, leaf);
  call_between(found, evaluation, TD_hook_kind_post_accumulate_grad, found->name,
               [&] { call(self, leaf); });
}

inline void
meet_leaf_hook(const PostAccumulateGradHook *hook) {
  if (!hook) return;
  auto slot = vtable_slot(&PostAccumulateGradHook::operator());
  classes->of_hook(hook, typeid(*hook), slot, reinterpret_cast<void *>(leaf_hook));
}
#endif

/* A leaf's hooks live with the tensor. */
inline const AutogradMeta *
meta_of_leaf(const Node *node) {
  const Tensor &leaf = static_cast<const AccumulateGrad *>(node)->variable;
  return static_cast<const AutogradMeta *>(leaf.unsafeGetTensorImpl()->autograd_meta_.get());
}

inline void
meet_leaf_hook_of(const Node *node, const NodeClass *found) {
#if TORCH_AT_LEAST(2, 1)
  const AutogradMeta *meta = found->is_accumulate_grad ? meta_of_leaf(node) : nullptr;
  if (meta) meet_leaf_hook(meta->post_acc_grad_hooks_.get());
#endif
}

inline void
meet_post_hooks(const Node *node) {
  for (const auto &hook : node->post_hooks_)
    meet_post_hook(hook.get());
}

inline void
meet_pre_hooks(const Node *node, const NodeClass *found) {
  const AutogradMeta *meta = found && found->is_accumulate_grad ? meta_of_leaf(node) : nullptr;
  if (meta)
    for (const auto &hook : meta->hooks_)
      meet_pre_hook(hook.get());
  for (const auto &hook : node->pre_hooks_)
    meet_pre_hook(hook.get());
#if TORCH_AT_LEAST(2, 0)
  for (const auto &hook : node->tensor_pre_hooks_)
    meet_pre_hook(hook.get());
  if (UNLIKELY(!node->retains_grad_hooks_.empty()))
    for (const auto &hook : node->retains_grad_hooks_)
      meet_pre_hook(hook.second.get());
#endif
}

} // namespace tapedeck
