/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Node creation hooks, since PyTorch 2.14: functions of a program that are called with each node
 * when it is whole. If a thread has any, PyTorch asks the engine for them anew at each node. The
 * observer takes over that question and wraps each answer. A node whose creation hook is called
 * enters the tape then, before any pass reaches it. */
#pragma once

#include "engine/probe/observer/classes.hpp"
#include "engine/probe/observer/hooks.hpp"

#if TORCH_AT_LEAST(2, 14)
#include <torch/csrc/autograd/python_node_creation_hook.h>

namespace tapedeck {

using CreationHooks = std::vector<std::unique_ptr<NodeCreationHook>>;
using CreationHooksGet = CreationHooks (*)(Engine *self);

inline CreationHooksGet creation_hooks_get; /* the engine's own */

class CreationHook : public NodeCreationHook {
public:
  explicit CreationHook(std::unique_ptr<NodeCreationHook> &&hook)
      : hook(std::move(hook)), name(owner_of(*this->hook)) {
  }

  void operator()(const NodePtr &node) override {
    Hooking hooking(id_of(node.get()), TD_hook_kind_creation, name);
    (*hook)(node);
  }

private:
  std::unique_ptr<NodeCreationHook> hook;
  uint32_t name;

  static uint32_t owner_of(const NodeCreationHook &hook) {
    const std::type_info &type = typeid(hook);
    uint32_t name = 0;
    if (is_named(type, "N5torch8autograd18PyNodeCreationHookE"))
      name = td_probe_intern_callable(static_cast<const PyNodeCreationHook &>(hook).hook_.data_);
    return name ? name : td_probe_intern(without_namespace(demangle(type.name())).c_str());
  }
};

inline CreationHooks
creation_hooks_hook(Engine *self) {
  CreationHooks hooks = creation_hooks_get(self);
  if (!hooks.empty()) td_probe_begin();
  if (!td_probe_is_on()) return hooks;
  for (std::unique_ptr<NodeCreationHook> &hook : hooks)
    hook = std::make_unique<CreationHook>(std::move(hook));
  return hooks;
}

/* The engine's vtable leads here until the observer gives all slots back. */
inline void
watch_creation() {
  void **slot =
      &vtable_of(&Engine::get_default_engine())[vtable_slot(&Engine::get_node_creation_hooks)];
  creation_hooks_get = reinterpret_cast<CreationHooksGet>(*slot);
  classes->take(slot, reinterpret_cast<void *>(creation_hooks_hook));
}

} // namespace tapedeck
#endif
