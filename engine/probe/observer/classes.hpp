/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Classes of nodes and of hooks. When the observer first meets an object of a class, it points
 * slots of the class's vtable to itself. For nodes these are apply and the destructors, for hooks
 * the call. A call through the vtable then comes here. A call between a class and its base does
 * not. */
#pragma once

#include "engine/probe/observer/thread.hpp"

#include <cxxabi.h>

namespace tapedeck {

/* Where the nodes of a class keep what they save: saved.hpp. */
struct SavedPlaces {
  static constexpr uint32_t MOST = 24, MOST_LISTS = 6;
  enum List : uint8_t { NONE, IN_CONTEXT, IN_OBJECT } list; /* of a custom function */
  uint8_t n, n_lists;
  uint16_t offsets[MOST], lists[MOST_LISTS]; /* of members, from the node's address */

  bool any() const {
    return n || n_lists || list != NONE;
  }
};

struct NodeClass {
  variable_list (*apply)(Node *self, variable_list &&inputs); /* the class's own */
  void (*destroy[2])(Node *self); /* complete and deleting destructor: the first two slots */
  void (*release)(Node *self);    /* since 2.13: the last strong reference is gone */
  uint32_t name;                  /* 0 where each object has its own */
  bool is_accumulate_grad, is_python;
  const char *text; /* the name, for good, or NULL */
  SavedPlaces saved;
  void (*release_variables)(Node *self); /* of a class that saves */
};

struct HookClass {
  void *call; /* the class's own operator() */
  uint32_t name;
  bool is_lambda;
  bool is_python; /* a list of Python's functions: hooks.hpp */
};

inline std::string
demangle(const char *name) {
  int status;
  char *plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = plain ? plain : name;
  free(plain);
  return text;
}

/* "torch::autograd::AccumulateGrad" is "AccumulateGrad" to people. */
inline std::string
without_namespace(std::string name) {
  static const std::string prefix = "torch::autograd::";
  return name.compare(0, prefix.size(), prefix) == 0 ? name.substr(prefix.size()) : name;
}

/* A vtable's slot and what was in it. `is_death`: the function is called when a node dies. */
struct Patch {
  void **slot;
  void *before, *hook;
  bool is_death;
};

class Classes {
public:
  Classes() {
    td_probe_guard(mutex.native_handle(), TD_FORK_PATCHES);
  }

  /* The class of a node, its vtable taken over if it is met for the first time. Under the world's
   * mutex: a slot leads to the observer only once the class can be found. */
  NodeClass *of(Node *node);
  /* The class of a hook: `hook` is to be called instead of the function in that slot. */
  HookClass *of_hook(const void *object, const std::type_info &type, size_t slot, void *hook);

  NodeClass *find(const void *node) const {
    return nodes.find(vtable_of(node));
  }
  HookClass *find_hook(const void *hook) const {
    return hooks.find(vtable_of(hook));
  }

  /* Points a slot of any vtable to `hook`, until restore() puts back what was there. */
  void take(void **slot, void *hook, bool is_death = false);
  void restore();

  /* While nobody is recorded, no slot leads to the observer but those that hear of deaths. rest()
   * gives these back too: no node that is known is alive. */
  void pause();
  void rest();
  void resume();

private:
  void give_back(bool deaths);
  bool is_paused = false; /* (guarded by mutex) */
  Registry<NodeClass> nodes{TD_FORK_CLASSES};
  Registry<HookClass> hooks{TD_FORK_CLASSES};
  std::mutex mutex;
  std::vector<Patch> patches; /* (guarded by mutex) */
};

extern Classes *classes;

/* Python's PyObject_CallObject, or NULL if this process has no Python. */
extern void *(*python_call)(void *callable, void *arguments);

/* What is called instead (evaluate.hpp, hooks.hpp). */
variable_list apply_hook(Node *self, variable_list &&inputs);
void destroy_complete_hook(Node *self);
void destroy_deleting_hook(Node *self);
void release_hook(Node *self);
void release_variables_hook(Node *self);

SavedPlaces find_places(const std::type_info &type, void **vtable);

inline void
Classes::take(void **slot, void *hook, bool is_death) {
  std::lock_guard<std::mutex> lock(mutex);
  Patch patch = {slot, *slot, hook, is_death};
  if (patch.before != hook && td_relocations_write(slot, hook)) patches.push_back(patch);
}

inline void
Classes::restore() {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Patch &patch : patches)
    if (*patch.slot == patch.hook) td_relocations_write(patch.slot, patch.before);
  patches.clear();
}

inline void
Classes::give_back(bool deaths) {
  for (const Patch &patch : patches)
    if (patch.is_death == deaths && *patch.slot == patch.hook)
      td_relocations_write(patch.slot, patch.before);
}

inline void
Classes::pause() {
  std::lock_guard<std::mutex> lock(mutex);
  is_paused = true;
  give_back(false);
}

inline void
Classes::rest() {
  std::lock_guard<std::mutex> lock(mutex);
  if (is_paused) give_back(true);
}

inline void
Classes::resume() {
  std::lock_guard<std::mutex> lock(mutex);
  is_paused = false;
  for (const Patch &patch : patches)
    if (*patch.slot == patch.before) td_relocations_write(patch.slot, patch.hook);
}

inline bool
is_named(const std::type_info &type, const char *name) {
  return strcmp(type.name(), name) == 0;
}

inline NodeClass *
Classes::of(Node *node) {
  void **vtable = vtable_of(node);
  if (NodeClass *found = nodes.find(vtable)) return found;
  size_t apply = vtable_slot(&Node::apply);
  size_t release_variables = vtable_slot(&Node::release_variables);
  NodeClass *found = nodes.obtain(vtable, [&](NodeClass &made) {
    made.apply = reinterpret_cast<decltype(made.apply)>(vtable[apply]);
    made.destroy[0] = reinterpret_cast<void (*)(Node *)>(vtable[0]);
    made.destroy[1] = reinterpret_cast<void (*)(Node *)>(vtable[1]);
#if TORCH_AT_LEAST(2, 13)
    made.release =
        reinterpret_cast<void (*)(Node *)>(vtable[vtable_slot(&Node::release_resources)]);
#endif
    made.is_accumulate_grad = typeid(*node) == typeid(AccumulateGrad);
    made.is_python = is_named(typeid(*node), "N5torch8autograd6PyNodeE");
    if (!made.is_python) made.text = (new std::string(without_namespace(node->name())))->c_str();
    made.name = td_probe_intern(made.text);
    made.saved = find_places(typeid(*node), vtable);
    made.release_variables = reinterpret_cast<void (*)(Node *)>(vtable[release_variables]);
  });
  if (!found) return nullptr;
  take(&vtable[apply], reinterpret_cast<void *>(apply_hook), false);
  if (found->saved.any())
    take(&vtable[release_variables], reinterpret_cast<void *>(release_variables_hook), false);
  take(&vtable[0], reinterpret_cast<void *>(destroy_complete_hook), true);
  take(&vtable[1], reinterpret_cast<void *>(destroy_deleting_hook), true);
#if TORCH_AT_LEAST(2, 13)
  take(&vtable[vtable_slot(&Node::release_resources)], reinterpret_cast<void *>(release_hook),
       true);
#endif
  return found;
}

inline HookClass *
Classes::of_hook(const void *object, const std::type_info &type, size_t slot, void *hook) {
  void **vtable = vtable_of(object);
  if (HookClass *found = hooks.find(vtable)) return found;
  HookClass *found = hooks.obtain(vtable, [&](HookClass &made) {
    made.call = vtable[slot];
    made.is_lambda = is_named(type, "N5torch8autograd5utils14LambdaPostHookE");
    made.is_python = python_call && strstr(type.name(), "PyFunction");
    made.name = td_probe_intern(without_namespace(demangle(type.name())).c_str());
  });
  if (found) take(&vtable[slot], hook, false);
  return found;
}

} // namespace tapedeck
