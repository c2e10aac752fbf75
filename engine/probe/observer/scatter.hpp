/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Scattering: evaluate_function hands a node's outputs on under the graph task's mutex. When the
 * mutex is taken, what will happen is settled. The observer reads counts, buffers and exec_info
 * then, and foretells every event. When a queue's mutex shows a push, the observer emits the events
 * up to that push. It emits the rest when the thread gives the graph task's mutex back. */
#pragma once

#include "engine/probe/observer/exposure.hpp"

namespace tapedeck {

/* Where sums of more bytes than this are made, later events get a time of their own. */
constexpr uint32_t WORTH_A_STAMP_BYTES = 4096;

/* A sum under the lock that takes more ticks, 20 us at 2.5 GHz, has an event of its own. No shorter
 * gradient takes so long. */
constexpr uint64_t LONG_SUM_TICKS = 50000;
constexpr uint32_t LONG_SUM_BYTES = 16384;

/* Nodes with more outputs than this find their earlier arrivals by a table. */
constexpr size_t FEW = 8;

/* The arrivals so far in this scatter that went to the same node. */
struct Earlier {
  int n = 0;
  bool buffered = false;
  bool filled = false; /* the same slot */
};

class EarlierFinder {
public:
  explicit EarlierFinder(size_t n_edges) : many(n_edges > FEW) {
  }

  Earlier find(const std::vector<Arrival> &arrivals, const Node *node, uint32_t input_nr) {
    Earlier found;
    if (many) {
      auto [first, last] = by_node.equal_range(node);
      for (; first != last; ++first)
        add(found, arrivals[first->second], input_nr);
    } else {
      for (const Arrival &arrival : arrivals)
        if (arrival.node == node) add(found, arrival, input_nr);
    }
    return found;
  }

  void note(const Node *node, size_t index) {
    if (many) by_node.emplace(node, index);
  }

private:
  bool many;
  std::unordered_multimap<const Node *, size_t> by_node;

  static void add(Earlier &found, const Arrival &arrival, uint32_t input_nr) {
    found.n++;
    found.buffered |= !arrival.skipped;
    found.filled |= !arrival.skipped && arrival.input_nr == input_nr &&
                    arrival.mode != TD_accumulation_undefined;
  }
};

/* How a gradient that meets another in a slot is added. Where
 * the call itself is observed, it says otherwise. */
inline td_accumulation
foretell_mode(const Output *gradient, const Tensor *slot, bool filled) {
  if (gradient && !gradient->defined) return TD_accumulation_undefined;
  if (slot && slot->defined()) filled = true;
  if (!filled) return TD_accumulation_move;
  bool sparse = (gradient && gradient->sparse) || (slot && is_sparse(*slot));
  return sparse ? TD_accumulation_sparse : TD_accumulation_out_of_place;
}

/* One edge's arrival; false if the engine is going to throw. */
inline bool
foretell(const Evaluation *evaluation, uint32_t output_nr, const Edge &edge, EarlierFinder &finder,
         std::vector<Arrival> &arrivals) {
  GraphTask *graph_task = evaluation->graph_task;
  Node *node = edge.function.get();
  auto dependency = graph_task->dependencies_.find(node);
  if (dependency == graph_task->dependencies_.end()) return false;
  Earlier earlier = finder.find(arrivals, node, edge.input_nr);
  if (dependency->second <= earlier.n) return false;
  auto parked = graph_task->not_ready_.empty() ? graph_task->not_ready_.end()
                                               : graph_task->not_ready_.find(node);
  bool is_parked = parked != graph_task->not_ready_.end();
  Arrival arrival = {node, id_of(node), output_nr, edge.input_nr,
                     static_cast<uint32_t>(dependency->second - earlier.n - 1)};
  arrival.makes_buffer = !is_parked && !earlier.buffered;
  if (arrival.makes_buffer && !graph_task->exec_info_.empty()) {
    auto wanted = graph_task->exec_info_.find(node);
    arrival.skipped = wanted == graph_task->exec_info_.end() || !wanted->second.should_execute();
  }
  arrival.completes = arrival.left == 0 && !arrival.skipped;
  const Output *gradient =
      output_nr < evaluation->outputs.size() ? &evaluation->outputs[output_nr] : nullptr;
  const Tensor *slot = is_parked && edge.input_nr < parked->second.buffer.size()
                           ? &parked->second.buffer[edge.input_nr]
                           : nullptr;
  arrival.mode = foretell_mode(gradient, slot, earlier.filled);
  arrival.bytes = gradient ? gradient->bytes : 0;
  arrival.added_directly = has_added(evaluation, edge, output_nr, slot);
  if (arrival.added_directly) arrival.direct_bytes = bytes_of(*slot);
  finder.note(node, arrivals.size());
  arrivals.push_back(arrival);
  return true;
}

inline void
begin_scatter(Thread *thread, Evaluation *evaluation) {
  Scatter &scatter = thread->scatter;
  const edge_list &edges = evaluation->node->next_edges_;
  scatter.arrivals.clear();
  scatter.n_told = scatter.n_added = 0;
  scatter.time = stamp_now(&evaluation->task->last);
  EarlierFinder finder(edges.size());
  for (uint32_t i = 0; i < edges.size(); i++)
    if (edges[i].function && !foretell(evaluation, i, edges[i], finder, scatter.arrivals)) break;
}

inline void
tell(Scatter &scatter, const Evaluation *evaluation, const Arrival &arrival) {
  uint32_t task = evaluation->task->id;
  EMIT(dependency_dec, scatter.time, arrival.id, task, arrival.left, evaluation->id);
  scatter.time = TIME_LAST;
  if (arrival.skipped) return;
  if (arrival.makes_buffer) EMIT(buffer_new, TIME_LAST, arrival.id, task);
  if (arrival.added_directly)
    EMIT(buffer_add, TIME_LAST, arrival.id, task, arrival.input_nr, evaluation->id,
         TD_accumulation_direct, arrival.direct_bytes);
  bool summed =
      arrival.mode == TD_accumulation_in_place || arrival.mode == TD_accumulation_out_of_place;
  bool has_own = !arrival.added_directly || arrival.mode != TD_accumulation_undefined;
  if (has_own)
    EMIT(buffer_add, summed && arrival.bytes > WORTH_A_STAMP_BYTES ? TIME_NOW : TIME_LAST,
         arrival.id, task, arrival.input_nr, evaluation->id, arrival.mode, arrival.bytes);
  if (UNLIKELY(arrival.took))
    EMIT(lock_work, TIME_LAST, TD_lock_kind_graph_task, task, arrival.id, arrival.mode,
         arrival.took);
  if (arrival.completes)
    EMIT(buffer_ready, TIME_LAST, arrival.id, task);
  else if (arrival.makes_buffer)
    EMIT(buffer_park, TIME_LAST, arrival.id, task);
}

/* Tells of the arrivals up to the one whose node is pushed now. */
inline const Arrival *
tell_until_push(Thread *thread, const Evaluation *evaluation) {
  Scatter &scatter = thread->scatter;
  while (scatter.n_told < scatter.arrivals.size()) {
    const Arrival &arrival = scatter.arrivals[scatter.n_told++];
    tell(scatter, evaluation, arrival);
    if (arrival.completes) return &arrival;
  }
  return nullptr;
}

inline void
end_scatter(Thread *thread, const Evaluation *evaluation) {
  Scatter &scatter = thread->scatter;
  if (scatter.n_told == scatter.arrivals.size() || std::uncaught_exceptions()) return;
  while (scatter.n_told < scatter.arrivals.size())
    tell(scatter, evaluation, scatter.arrivals[scatter.n_told++]);
}

/* InputBuffer::add, where it can be observed: which arrival it belongs to follows from the order.
 */
inline Arrival *
next_added(Scatter &scatter) {
  while (scatter.n_added < scatter.arrivals.size())
    if (!scatter.arrivals[scatter.n_added++].skipped) return &scatter.arrivals[scatter.n_added - 1];
  return nullptr;
}

} // namespace tapedeck
