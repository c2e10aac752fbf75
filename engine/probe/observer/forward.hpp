/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the forward pass makes. While the observer looks for anomalies, PyTorch calls these
 * functions around each of its operations, as it does for its profiler. The observer reads the
 * results of an operation when the operation has ended. It reads the operands only if a result is
 * not finite. If the operation overwrites its operands, the observer reads them before. Operations
 * within backward are left to the nodes that call them. */
#pragma once

#include "engine/probe/observer/gradients.hpp"
#include "engine/probe/observer/operands.hpp"
#include "engine/probe/observer/thread.hpp"
#include "engine/probe/operations.h"

#include <ATen/SequenceNumber.h>

#include <cmath>

namespace tapedeck {

/* An operation in the making. Its caller holds the operands and waits for it. */
struct Operation : at::ObserverContext {
  uint64_t begin = 0; /* operations of this thread that had ended */
  c10::SmallVector<at::TensorImpl *, 8> operands;
  bool overwrites = false;
  bool overwrites_little = false; /* of the first operand: it is long beside what is written */
  unsigned overwritten = 0;       /* what was found in the first operand, before */
  td_operand overwritten_of = {}; /* and what had made it */
};

constexpr int64_t MUCH = 4; /* times as many elements */

/* Reading all of a target costs more than the operation, which writes a few elements of it. */
inline bool
overwrites_little(const at::RecordFunction &function, const Operation &operation) {
  if (!operation.overwrites || !writes_at_indices(function.name())) return false;
  for (const c10::IValue &value : function.inputs())
    if (value.isDouble() && !std::isfinite(value.toDouble())) return false; /* it may be written */
  int64_t others = 0;
  for (size_t i = 1; i < operation.operands.size(); i++)
    others += operation.operands[i]->numel_;
  return operation.operands[0]->numel_ > MUCH * others;
}

/* The sequence number of this thread's last node whose operation is noted. An operation that
 * contains others ends after they do. */
inline thread_local int64_t last_told = -1;

inline unsigned
look_at(at::TensorImpl *impl) {
  td_gradient gradient;
  describe(impl, &gradient);
  return td_numerics_look(&gradient);
}

/* Results that this thread found finite, by where they lie. So it need not read a view again, nor
 * the result of an operation within another. But memory is used again. So the thread trusts an
 * entry only for the operand of a view, or for what it read since the operation began. */
class Finite {
public:
  uint64_t n_operations = 0;
  uint32_t period = 0; /* of world->period: what was read before a pause says nothing */

  static bool is_same(at::TensorImpl *a, at::TensorImpl *b) {
    return a->storage_.storage_impl_.get() == b->storage_.storage_impl_.get() &&
           a->numel_ == b->numel_ && a->storage_offset_ == b->storage_offset_;
  }

  /* Whether `impl` lies where the tensor `as` lay when it was read, after `since` operations. */
  bool knows(at::TensorImpl *impl, const at::TensorImpl *as, uint64_t since) const {
    const Entry &entry = entries[slot(impl)];
    return entry.tensor == as && entry.storage == impl->storage_.storage_impl_.get() &&
           entry.when > since && entry.numel == impl->numel_ &&
           entry.offset == impl->storage_offset_ && entry.version == version(impl);
  }

  void add(at::TensorImpl *impl) {
    entries[slot(impl)] = {impl,
                           impl->storage_.storage_impl_.get(),
                           n_operations + 1,
                           impl->numel_,
                           impl->storage_offset_,
                           version(impl)};
  }

private:
  static constexpr size_t N = 256;
  struct Entry {
    const at::TensorImpl *tensor;
    const void *storage;
    uint64_t when;
    int64_t numel, offset;
    uint32_t version;
  } entries[N] = {};

  static size_t slot(at::TensorImpl *impl) {
    return (reinterpret_cast<uintptr_t>(impl->storage_.storage_impl_.get()) >> 4) % N;
  }
  static uint32_t version(at::TensorImpl *impl) {
    return impl->is_inference() ? 0 : impl->version_counter().current_version();
  }
};

/* Made when a thread first needs it, and freed with the thread. */
extern TLS_QUICK Finite *finite_self;

Finite *finite_make();

inline Finite &
finite_now() {
  return *(LIKELY(finite_self) ? finite_self : finite_make());
}

/* The operand whose memory a result shares, all of it; or NULL. */
inline const at::TensorImpl *
viewed(const Operation &operation, at::TensorImpl *result) {
  for (at::TensorImpl *operand : operation.operands)
    if (!operation.overwrites && Finite::is_same(operand, result)) return operand;
  return nullptr;
}

/* What was written into a long target came from the other operands. */
inline unsigned
look_at_written(const Operation &operation) {
  unsigned found = 0;
  for (size_t i = 1; i < operation.operands.size(); i++)
    found |= look_at(operation.operands[i]);
  return found;
}

inline unsigned
look_at_result(const Operation &operation, at::TensorImpl *result) {
  if (!result->storage_.storage_impl_) return 0; /* undefined, or not dense */
  if (operation.overwrites_little && result == operation.operands[0])
    return look_at_written(operation);
  Finite &finite = finite_now();
  const at::TensorImpl *base = viewed(operation, result);
  bool is_known =
      base ? finite.knows(result, base, 0) : finite.knows(result, result, operation.begin);
  unsigned found = is_known ? 0 : look_at(result);
  if (!found) finite.add(result);
  return found;
}

/* What made an operand; number 0 and thread 0 for what has no history and wants no gradient. */
inline td_operand
maker_of(at::TensorImpl *operand) {
  const Node *maker = grad_fn_of(operand);
  if (maker) return {maker->thread_id_, maker->sequence_nr(), 0, 0};
  return {0, is_wanting_leaf(operand) ? leaf_number(operand) : 0, 0, 0};
}

inline std::unique_ptr<at::ObserverContext>
operation_begin(const at::RecordFunction &function) {
  if (function.seqNr() < 0 || td_numerics_is_evaluating()) return nullptr;
  auto operation = std::make_unique<Operation>();
  Finite &finite = finite_now();
  if (UNLIKELY(finite.period != world->period)) {
    finite = Finite();
    finite.period = world->period;
  }
  operation->begin = finite.n_operations;
  for (const c10::IValue &value : function.inputs())
    each_tensor(value, [&](at::TensorImpl *impl) { operation->operands.push_back(impl); });
  operation->overwrites = is_in_place(function.name()) && !operation->operands.empty();
  operation->overwrites_little = overwrites_little(function, *operation);
  if (operation->overwrites && !operation->overwrites_little) {
    operation->overwritten = look_at(operation->operands[0]);
    if (operation->overwritten) operation->overwritten_of = maker_of(operation->operands[0]);
  }
  return operation;
}

/* A result of a node whose operation was not seen, as that of a custom function. */
inline void
tell_of_maker(const Node *node, unsigned found) {
  td_operation forward = {};
  forward.thread = node->thread_id_;
  forward.sequence_nr = node->sequence_nr();
  forward.after = found;
  td_operations_note(&forward, true);
}

inline void
add_operand(td_operation *forward, td_operand operand) {
  if (forward->n_operands < TD_OPERATION_OPERANDS)
    forward->operands[forward->n_operands++] = operand;
}

/* What was found in the operands, and what of it came in with one that has no history. */
inline void
find_in_operands(const Operation &operation, td_operation *forward) {
  for (size_t i = 0; i < operation.operands.size(); i++) {
    bool is_old = i == 0 && operation.overwrites;
    unsigned found = is_old ? operation.overwritten : look_at(operation.operands[i]);
    if (!found) continue;
    const Node *maker = is_old ? nullptr : grad_fn_of(operation.operands[i]);
    td_operand of = is_old ? operation.overwritten_of : maker_of(operation.operands[i]);
    if (maker) tell_of_maker(maker, found);
    if (of.thread || of.number) {
      of.found = found;
      of.nr = clamp(i);
      add_operand(forward, of);
    } else if (td_numbers_born(forward->before, found) && !is_old) {
      forward->came_in |= found;
      forward->operand_nr = clamp(i);
    }
    forward->before |= found;
  }
}

inline void
operation_end(const at::RecordFunction &function, at::ObserverContext *context) {
  if (!context || at::sequence_number::peek() <= static_cast<uint64_t>(function.seqNr())) return;
  const Operation &operation = *static_cast<Operation *>(context);
  td_operation forward = {};
  uint32_t n = 0;
  for (const c10::IValue &value : function.outputs())
    each_tensor(value, [&](at::TensorImpl *impl) {
      unsigned found = look_at_result(operation, impl);
      if (found && !forward.after) forward.result_nr = n;
      forward.after |= found;
      n++;
    });
  finite_now().n_operations++;
  if (!forward.after || function.seqNr() <= last_told) return;
  last_told = function.seqNr();
  forward.thread = at::RecordFunction::currentThreadId();
  forward.sequence_nr = static_cast<uint64_t>(function.seqNr());
  find_in_operands(operation, &forward);
  td_operations_note(&forward, false);
}

/* Looks at the forward pass of all threads from now on, and no more. */
inline at::CallbackHandle
forward_watch() {
  return at::addGlobalCallback(at::RecordFunctionCallback(operation_begin, operation_end)
                                   .needsInputs(true)
                                   .needsOutputs(true)
                                   .scopes({at::RecordScope::FUNCTION}));
}

inline void
forward_unwatch(at::CallbackHandle handle) {
  at::removeCallback(handle);
}

} // namespace tapedeck
