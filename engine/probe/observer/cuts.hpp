/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What cuts leaves off the loss: cuts.h. During the first passes PyTorch tells of each operation,
 * as it does for its profiler. A leaf's number is its address. The address of a leaf that was freed
 * may become another's; parameters live as long as their optimizer. */
#pragma once

#include "engine/events/cuts.h"
#include "engine/probe/observer/classes.hpp"
#include "engine/probe/observer/thread.hpp"
#include "engine/probe/observer/written.hpp"
#include "engine/probe/stacks.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/VariableHooksInterface.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <mutex>
#include <unordered_set>

namespace tapedeck {

using VariableHooks = at::impl::VariableHooksInterface;

constexpr size_t CUT_WALK = 10000; /* nodes, at most */

/* Walks may take this much of the time that the process has computed, and so much in any case. */
constexpr uint64_t CUT_SHARE = 50, CUT_FREE_NS = 2000000;

inline uint64_t
processor_time(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

/* For each operation PyTorch boxes the operands, about so long, before it tells of them. */
constexpr uint64_t CUT_CALL_NS = 1000;

/* What all walks have taken since the watch began. A program that reads a number of each step of a
 * long loop would spend its time in them. */
class CutBudget {
public:
  void begin() {
    spent = 0;
    since = processor_time(CLOCK_PROCESS_CPUTIME_ID);
  }

  template <class Walk> void spend(Walk walk) {
    uint64_t before = processor_time(CLOCK_THREAD_CPUTIME_ID);
    walk();
    uint64_t all = spent += processor_time(CLOCK_THREAD_CPUTIME_ID) - before;
    if (all > CUT_FREE_NS && all * CUT_SHARE > processor_time(CLOCK_PROCESS_CPUTIME_ID) - since)
      td_own_stop(TD_recorder_work_cuts);
  }

private:
  std::atomic<uint64_t> spent{0}, since{0};
};

extern CutBudget *cut_budget;

/* Notes a cut for all leaves that a node's graph leads to. */
class CutWalk {
public:
  CutWalk(const Node *first, td_cut cut) {
    meet(first);
    for (size_t i = 0; i < met.size(); i++) {
      const auto *leaf = dynamic_cast<const AccumulateGrad *>(met[i]);
      if (leaf) td_cuts_note(leaf_number(leaf->variable.unsafeGetTensorImpl()), cut);
      for (const Edge &edge : met[i]->next_edges_)
        meet(edge.function.get());
    }
  }

private:
  std::vector<const Node *> met;
  std::unordered_set<const Node *> known;

  void meet(const Node *node) {
    if (node && met.size() < CUT_WALK && known.insert(node).second) met.push_back(node);
  }
};

/* What this thread is within: a custom function's forward, and what that cuts leaves off by; or an
 * operation that autocast casts for. */
struct CutWithin {
  td_cut_kind custom;
  bool autocast, makes_graph; /* the second is of the operation */
};

inline thread_local CutWithin cut_within = {TD_cut_kind_none, false, false};

/* This thread attached the observer, and has run no operation with gradients since: so it may be
 * within a custom function, whose call was not seen. */
inline thread_local bool may_be_within = false;

struct CutScope : at::ObserverContext {
  CutWithin outer = cut_within;
};

/* Python's custom functions bear the bare name of their class. */
inline std::unique_ptr<at::ObserverContext>
enter_custom(const char *name) {
  auto entered = std::make_unique<CutScope>();
  cut_within.custom =
      strcmp(name, "CheckpointFunction") ? TD_cut_kind_function : TD_cut_kind_checkpoint;
  return entered;
}

inline td_cut_kind
cut_kind_here() {
  if (c10::InferenceMode::is_enabled()) return TD_cut_kind_inference;
  return cut_within.custom != TD_cut_kind_none ? cut_within.custom : TD_cut_kind_no_grad;
}

/* Each leaf among the operands that wants a gradient. */
template <class Visit>
void
each_wanting_leaf(const at::RecordFunction &function, Visit visit) {
  for (const c10::IValue &value : function.inputs())
    each_tensor(value, [&](at::TensorImpl *impl) {
      if (is_wanting_leaf(impl)) visit(impl);
    });
}

inline void
cut_operands(const at::RecordFunction &function) {
  td_cut cut = {cut_kind_here(), 0};
  bool is_placed = false;
  each_wanting_leaf(function, [&](at::TensorImpl *impl) {
    if (!is_placed) cut.stack = td_stacks_here();
    is_placed = true;
    td_cuts_note(leaf_number(impl), cut);
  });
}

/* Autocast is on, and has not taken the operation yet. */
inline bool
is_autocast_next() {
  using c10::impl::tls_is_dispatch_key_excluded;
  return !tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU) ||
         !tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCUDA);
}

/* Autocast gives these copies of their operands, on each device. */
inline bool
takes_copies(const char *name) {
  static const char *const names[] = {"aten::linear", "aten::matmul", "aten::mm",
                                      "aten::addmm",  "aten::bmm",    "aten::baddbmm"};
  for (const char *each : names)
    if (!strcmp(name, each)) return true;
  return !strncmp(name, "aten::conv", strlen("aten::conv"));
}

/* Autocast may take a copy of a leaf that it made earlier. What it calls comes here too. Since 2.0
 * it makes copies with a graph also where none is made. */
inline void
note_graph(const at::RecordFunction &function) {
  bool is_copy = cut_within.autocast && !cut_within.makes_graph;
  if (is_copy || (is_autocast_next() && !takes_copies(function.name()))) return;
  auto note = is_autocast_next() ? td_cuts_note_copy_used : td_cuts_note_graph;
  each_wanting_leaf(function, [&](at::TensorImpl *impl) { note(leaf_number(impl)); });
}

inline bool
is_cast(const char *name) {
  return !strcmp(name, "aten::to") || !strcmp(name, "aten::_to_copy");
}

/* The cast that autocast makes of a leaf, and keeps. */
inline void
note_copy(const at::RecordFunction &function) {
  bool is_kept = cut_within.autocast && at::autocast::is_autocast_cache_enabled();
  if (!is_kept || !is_cast(function.name())) return;
  each_wanting_leaf(function, [&](at::TensorImpl *impl) { td_cuts_note_copy(leaf_number(impl)); });
}

inline void
cut_tensor(at::TensorImpl *impl, td_cut_kind kind) {
  const Node *grad_fn = grad_fn_of(impl);
  if (!grad_fn) return;
  Timed timed(TD_recorder_work_cuts);
  cut_budget->spend([&] { CutWalk(grad_fn, {kind, td_stacks_here()}); });
}

inline void
cut_history(const at::RecordFunction &function, td_cut_kind kind) {
  const auto inputs = function.inputs();
  if (!inputs.empty() && inputs[0].isTensor()) cut_tensor(inputs[0].unsafeToTensorImpl(), kind);
}

/* tolist() is seen by what it calls first. Kernels call that too, below autograd. */
inline bool
is_tolist(const char *name) {
  return !strcmp(name, "aten::resolve_neg") &&
         !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutogradCPU);
}

inline bool
is_comparison(const char *name) {
  static const char *const names[] = {"aten::gt", "aten::lt", "aten::ge",
                                      "aten::le", "aten::eq", "aten::ne"};
  for (const char *each : names)
    if (!strcmp(name, each)) return true;
  return false;
}

/* long(), int() and bool() are to(dtype). */
inline bool
is_to_integers(const at::RecordFunction &function) {
  const auto inputs = function.inputs();
  return !strcmp(function.name(), "aten::to") && inputs.size() > 1 && inputs[1].isInt() &&
         c10::isIntegralType(static_cast<c10::ScalarType>(inputs[1].toInt()), true);
}

inline std::unique_ptr<at::ObserverContext>
look_for_cut(const at::RecordFunction &function) {
  const char *name = function.name();
  if (!strchr(name, ':')) return enter_custom(name);
  if (is_in_place(name)) written->note(function);
  if (at::GradMode::is_enabled()) may_be_within = false;
  std::unique_ptr<at::ObserverContext> entered;
  if (is_autocast_next()) {
    entered = std::make_unique<CutScope>();
    cut_within.autocast = true;
    cut_within.makes_graph = at::GradMode::is_enabled();
  }
  if (!strcmp(name, "aten::detach") || !strcmp(name, "aten::detach_"))
    cut_history(function, TD_cut_kind_detach);
  else if (!strcmp(name, "aten::item"))
    cut_history(function, TD_cut_kind_item);
  else if (is_tolist(name))
    cut_history(function, TD_cut_kind_numbers);
  else if (!strcmp(name, "aten::argmax") || !strcmp(name, "aten::argmin"))
    cut_history(function, TD_cut_kind_argmax);
  else if (is_comparison(name))
    cut_history(function, TD_cut_kind_compare);
  else if (is_to_integers(function))
    cut_history(function, TD_cut_kind_integer);
  else if (at::GradMode::is_enabled())
    note_graph(function);
  else if (!is_in_place(name) && !may_be_within)
    cut_operands(function), note_copy(function);
  return entered;
}

/* The engine's own operations, and those of nodes, are no cuts. */
inline std::unique_ptr<at::ObserverContext>
cut_begin(const at::RecordFunction &function) {
  if (!td_cuts_wanted() || (thread_self && thread_self->inside)) return nullptr;
  td_own_time time = td_own_sample();
  auto context = look_for_cut(function);
  td_own_sampled(time, TD_recorder_work_cuts, CUT_CALL_NS);
  return context;
}

inline void
cut_end(const at::RecordFunction &, at::ObserverContext *context) {
  if (context) cut_within = static_cast<CutScope *>(context)->outer;
}

/* tensor.data is no operation: it asks this of PyTorch's VariableHooks. */
using VariableData = at::TensorBase (*)(const VariableHooks *self, const at::TensorBase &tensor);

extern VariableData variable_data;

inline at::TensorBase
variable_data_hook(const VariableHooks *self, const at::TensorBase &tensor) {
  bool is_cut = td_cuts_wanted() && !(thread_self && thread_self->inside);
  if (is_cut) cut_tensor(tensor.unsafeGetTensorImpl(), TD_cut_kind_data);
  return variable_data(self, tensor);
}

inline void
watch_data() {
  VariableHooks *hooks = at::impl::GetVariableHooks();
  void **slot = &vtable_of(hooks)[vtable_slot(&VariableHooks::variable_data)];
  variable_data = reinterpret_cast<VariableData>(*slot);
  classes->take(slot, reinterpret_cast<void *>(variable_data_hook));
}

/* Any thread. If another one is at it, or was at a fork, follow() leaves it to that one. */
class CutWatch {
public:
  void follow(bool watches) {
    std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
    if (!lock) return;
    bool is_watching = handle != at::INVALID_CALLBACK_HANDLE;
    watches = watches && td_cuts_wanted();
    if (watches == is_watching) return;
    if (is_watching) at::removeCallback(handle);
    if (watches) cut_budget->begin();
    handle = watches ? at::addGlobalCallback(at::RecordFunctionCallback(cut_begin, cut_end)
                                                 .needsInputs(true)
                                                 .scopes({at::RecordScope::FUNCTION}))
                     : at::INVALID_CALLBACK_HANDLE;
  }

private:
  std::mutex mutex;
  at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
};

extern CutWatch *cut_watch;

} // namespace tapedeck
