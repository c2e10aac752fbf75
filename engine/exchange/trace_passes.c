/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Graph tasks of a foreign trace, as far as they follow. */
#include "engine/base/alloc.h"
#include "engine/exchange/trace_tape.h"

/* The thread whose call of backward an evaluation belongs to. A thread that does nothing but
 * evaluate is a device's: the pass is that of the thread which made the node, else of the one it
 * worked for before. */
static uint32_t
find_owner(const td_trace_tape *self, uint32_t thread, const td_trace_node *known) {
  if (self->index->n_plain[thread]) return thread;
  if (known && known->made_on != TD_NONE) return known->made_on;
  uint32_t before = self->joined[thread];
  return before != TD_NONE && self->passes[before].graph_task != TD_NONE ? before : thread;
}

/* The innermost of Python's calls into the engine that is open at that time, above the evaluation
 * `below`; NULL if none was seen. Time never runs back here, so a call that is over stays over.
 * The search takes such calls out of the chain as it goes, and is fast the next time. */
static const td_span *
find_call(const td_lane *lane, const td_frame *below, int64_t ns) {
  td_frame *frame = td_lane_top(lane);
  if (frame && frame->span.kind != TD_SPAN_RUN_BACKWARD)
    frame = td_lane_below(lane, frame, TD_SPAN_RUN_BACKWARD);
  while (frame && frame->span.end_ns <= ns) {
    td_frame *outer = td_lane_below(lane, frame, TD_SPAN_RUN_BACKWARD);
    if (outer && outer->span.end_ns <= ns)
      frame->below[TD_SPAN_RUN_BACKWARD] = outer->below[TD_SPAN_RUN_BACKWARD];
    frame = td_lane_below(lane, frame, TD_SPAN_RUN_BACKWARD);
  }
  return frame && (!below || frame > below) ? &frame->span : NULL;
}

/* The pass begins where Python called, if that was seen, else with its first evaluation, whose node
 * is its root: nothing else is in a queue then. */
static void
begin(td_trace_tape *self, td_open_pass *pass, td_lane *lane, uint32_t owner,
      td_trace_node *known) {
  td_frame *around = td_lane_evaluation(lane), *first = td_lane_top(lane);
  const td_span *call = find_call(&self->nesting.lanes[owner], around, first->span.begin_ns);
  int64_t ns = call ? call->begin_ns : first->span.begin_ns;
  *pass = (td_open_pass){
      .graph_task = self->n_graph_tasks++,
      .owner = owner,
      .depth = around ? around->depth + 1 : 0,
      .outer = around ? around->graph_task : TD_NONE,
      .outer_node = around ? around->node : TD_NONE,
      .only_thread = first->span.thread,
      .last_node = TD_NONE,
      .limit_ns = call ? call->end_ns : INT64_MAX,
      .end_ns = first->span.begin_ns,
  };
  uint32_t root = td_trace_tape_node(self, lane, known, ns);
  uint32_t on = td_trace_tape_thread(self, owner, ns);
  uint64_t at = td_trace_tape_at(self, ns);
  TD_MAKE(self->maker, on, at, graph_task_begin, .graph_task = pass->graph_task,
          .depth = pass->depth, .owner = on, .accumulate_grad = true, .root = root, .n_roots = 1);
  if (around)
    TD_MAKE(self->maker, on, at, reentrant_enter, .graph_task = pass->graph_task,
            .outer = pass->outer, .node = pass->outer_node, .depth = pass->depth);
}

td_open_pass *
td_trace_pass_enter(td_trace_tape *self, td_lane *lane, td_trace_node *known) {
  td_frame *around = td_lane_evaluation(lane), *top = td_lane_top(lane);
  uint32_t thread = top->span.thread;
  uint32_t owner = around ? thread : find_owner(self, thread, known);
  td_open_pass *pass = around ? &around->inner : &self->passes[owner];
  bool again = known && known->graph_task == pass->graph_task;
  if (again || top->span.begin_ns >= pass->limit_ns) td_trace_pass_end(self, pass);
  if (pass->graph_task == TD_NONE) begin(self, pass, lane, owner, known);
  if (!around) self->joined[thread] = owner;
  if (pass->only_thread != thread) pass->only_thread = TD_NONE;
  pass->end_ns = TD_MAX(pass->end_ns, top->span.end_ns);
  top->graph_task = pass->graph_task;
  top->depth = pass->depth;
  if (known) known->graph_task = pass->graph_task;
  return pass;
}

void
td_trace_pass_leave(td_trace_tape *self, td_lane *lane) {
  td_frame *around = td_lane_evaluation(lane);
  const td_span *span = &td_lane_top(lane)->span;
  td_open_pass *pass = around ? &around->inner : &self->passes[span->thread];
  if (pass->limit_ns == INT64_MAX || span->begin_ns >= pass->limit_ns)
    td_trace_pass_end(self, pass);
}

void
td_trace_pass_end(td_trace_tape *self, td_open_pass *pass) {
  if (pass->graph_task == TD_NONE) return;
  int64_t ns = pass->limit_ns == INT64_MAX ? pass->end_ns : TD_MAX(pass->limit_ns, pass->end_ns);
  uint32_t on = td_trace_tape_thread(self, pass->owner, ns);
  uint64_t at = td_trace_tape_at(self, ns);
  TD_MAKE(self->maker, on, at, graph_task_end, .graph_task = pass->graph_task,
          .status = TD_task_status_ok);
  if (pass->outer_node != TD_NONE)
    TD_MAKE(self->maker, on, at, reentrant_leave, .graph_task = pass->graph_task,
            .outer = pass->outer, .node = pass->outer_node, .depth = pass->depth);
  else
    TD_MAKE(self->maker, on, at, thread_state, .state = TD_thread_activity_outside,
            .graph_task = TD_NONE);
  pass->graph_task = TD_NONE;
}
