/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/trace_tape.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define STACK_FRAMES_MAX 64
#define STACK_BYTES_MAX 8192 /* so a small trace cannot make a tape of any size */

uint64_t
td_trace_tape_at(const td_trace_tape *self, int64_t ns) {
  return ns > self->start_ns ? (uint64_t)(ns - self->start_ns) : 0;
}

static uint32_t
tell_process(td_trace_tape *self, uint32_t process, uint32_t on, uint64_t at) {
  td_trace_process *facts = &self->processes[process];
  if (facts->id != TD_NONE) return facts->id;
  facts->id = self->n_processes++;
  uint32_t name = td_maker_intern(self->maker, on, at, td_text_table_get(self->texts, facts->name));
  TD_MAKE(self->maker, on, at, process_new, .process = facts->id, .pid = facts->pid,
          .rank = self->rank, .name = name);
  return facts->id;
}

/* A thread's number on the tape, where it appears at that time. */
static uint32_t
tell_thread(td_trace_tape *self, uint32_t thread, int64_t ns) {
  td_trace_thread *facts = &self->threads[thread];
  if (facts->id != TD_NONE) return facts->id;
  facts->id = self->n_threads++;
  uint64_t at = td_trace_tape_at(self, ns);
  uint32_t name =
      td_maker_intern(self->maker, facts->id, at, td_text_table_get(self->texts, facts->name));
  uint32_t process = tell_process(self, facts->process, facts->id, at);
  TD_MAKE(self->maker, facts->id, at, thread_new, .id = facts->id, .name = name,
          .device = TD_DEVICE_CPU, .process = process);
  return facts->id;
}

static uint32_t
intern(td_trace_tape *self, uint32_t on, uint64_t at, uint32_t text) {
  return td_maker_intern(self->maker, on, at, td_text_table_get(self->texts, text));
}

/* The names of the innermost open spans of one kind. Returns how many. */
static uint32_t
innermost_names(const td_trace_tape *self, const td_lane *lane, td_span_kind kind,
                uint32_t names[STACK_FRAMES_MAX]) {
  uint32_t n = 0;
  size_t n_bytes = 0;
  const td_frame *frame = td_lane_top(lane);
  if (frame->span.kind != kind) frame = td_lane_below(lane, frame, kind);
  for (; frame && n < STACK_FRAMES_MAX; frame = td_lane_below(lane, frame, kind)) {
    n_bytes += strnlen(td_text_table_get(self->texts, frame->span.name), STACK_BYTES_MAX) + 1;
    if (n && n_bytes > STACK_BYTES_MAX) break;
    names[n++] = frame->span.name;
  }
  return n;
}

/* These names, outermost first, as one text of the tape. */
static uint32_t
join_names(td_trace_tape *self, const td_lane *lane, td_span_kind kind, char separator, uint32_t on,
           uint64_t at) {
  uint32_t names[STACK_FRAMES_MAX], n = innermost_names(self, lane, kind, names);
  uint64_t hash = td_hash_number(kind + 1u);
  for (uint32_t i = 0; i < n; i++)
    hash = td_hash_number(hash ^ names[i]);
  if (n == 0) return 0;
  uint64_t *known = td_number_map_put(&self->stacks, hash);
  if (*known) return (uint32_t)*known;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return 0;
  while (n-- > 0) {
    fputs(td_text_table_get(self->texts, names[n]), out);
    if (n) putc(separator, out);
  }
  fclose(out);
  *known = td_maker_intern(self->maker, on, at, text);
  free(text);
  return (uint32_t)*known;
}

static uint32_t
tell_node(td_trace_tape *self, uint32_t on, uint64_t at, uint32_t name, int64_t sequence_nr,
          uint32_t stack) {
  bool leaf = name == self->accumulate_grad;
  uint64_t number = sequence_nr >= 0 ? (uint64_t)sequence_nr : leaf ? UINT64_MAX : 0;
  uint32_t id = self->n_nodes++;
  uint32_t text = intern(self, on, at, name);
  TD_MAKE(self->maker, on, at, node_new, .node = id, .name = text, .sequence_nr = number,
          .device = TD_DEVICE_CPU, .stack = stack);
  return id;
}

/* The node of the evaluation on top of the lane. If no forward operator made it before, it is new
 * at that time. known is NULL for a node without a number. */
static uint32_t
obtain_node(td_trace_tape *self, td_lane *lane, td_trace_node *known, int64_t ns) {
  td_frame *top = td_lane_top(lane);
  if (top->node == TD_NONE && known) top->node = known->id;
  if (top->node != TD_NONE) return top->node;
  uint32_t on = tell_thread(self, top->span.thread, ns);
  uint64_t at = td_trace_tape_at(self, ns);
  top->node = tell_node(self, on, at, top->span.name, top->span.sequence_nr, 0);
  if (known) known->id = top->node;
  return top->node;
}

/* ---- graph tasks, as far as they follow ---- */

/* The thread whose call of backward an evaluation belongs to. A thread that does nothing but
 * evaluate is a device's: the pass is that of the thread which made the node, else of the one it
 * worked for before, else of the only thread that does anything else. */
static uint32_t
find_owner(const td_trace_tape *self, uint32_t thread, const td_trace_node *known) {
  if (self->index->n_plain[thread]) return thread;
  if (known && known->made_on != TD_NONE) return known->made_on;
  uint32_t before = self->joined[thread];
  if (before != TD_NONE && self->passes[before].graph_task != TD_NONE) return before;
  return self->caller != TD_NONE ? self->caller : thread;
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
begin_pass(td_trace_tape *self, td_open_pass *pass, td_lane *lane, uint32_t owner,
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
  uint32_t root = obtain_node(self, lane, known, ns);
  uint32_t on = tell_thread(self, owner, ns);
  uint64_t at = td_trace_tape_at(self, ns);
  TD_MAKE(self->maker, on, at, graph_task_begin, .graph_task = pass->graph_task,
          .depth = pass->depth, .owner = on, .accumulate_grad = true, .root = root, .n_roots = 1);
  if (around)
    TD_MAKE(self->maker, on, at, reentrant_enter, .graph_task = pass->graph_task,
            .outer = pass->outer, .node = pass->outer_node, .depth = pass->depth);
}

static void
end_pass(td_trace_tape *self, td_open_pass *pass) {
  if (pass->graph_task == TD_NONE) return;
  int64_t ns = pass->limit_ns == INT64_MAX ? pass->end_ns : TD_MAX(pass->limit_ns, pass->end_ns);
  uint32_t on = tell_thread(self, pass->owner, ns);
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

/* Puts the evaluation on top of the lane into its pass, which may end another one and begin one. */
static td_open_pass *
enter_pass(td_trace_tape *self, td_lane *lane, td_trace_node *known) {
  td_frame *around = td_lane_evaluation(lane), *top = td_lane_top(lane);
  uint32_t thread = top->span.thread;
  uint32_t owner = around ? thread : find_owner(self, thread, known);
  td_open_pass *pass = around ? &around->inner : &self->passes[owner];
  bool again = known && known->graph_task == pass->graph_task;
  if (again || top->span.begin_ns >= pass->limit_ns) end_pass(self, pass);
  if (pass->graph_task == TD_NONE) begin_pass(self, pass, lane, owner, known);
  if (!around) self->joined[thread] = owner;
  if (pass->only_thread != thread) pass->only_thread = TD_NONE;
  pass->end_ns = TD_MAX(pass->end_ns, top->span.end_ns);
  top->graph_task = pass->graph_task;
  top->depth = pass->depth;
  if (known) known->graph_task = pass->graph_task;
  return pass;
}

/* Ends the pass that a span on top of the lane shows to be over, if it does. */
static void
leave_pass(td_trace_tape *self, td_lane *lane) {
  td_frame *around = td_lane_evaluation(lane);
  const td_span *span = &td_lane_top(lane)->span;
  td_open_pass *pass = around ? &around->inner : &self->passes[span->thread];
  if (pass->limit_ns == INT64_MAX || span->begin_ns >= pass->limit_ns) end_pass(self, pass);
}

/* ---- spans ---- */

/* A forward operator makes a node: here its stack and module are known. */
static void
make_node(td_trace_tape *self, td_lane *lane) {
  const td_span *span = &td_lane_top(lane)->span;
  td_trace_node *node = td_trace_index_find_made(self->index, span);
  if (!node || node->id != TD_NONE) return;
  uint32_t on = tell_thread(self, span->thread, span->begin_ns);
  uint64_t at = td_trace_tape_at(self, span->begin_ns);
  uint32_t stack = join_names(self, lane, TD_SPAN_FRAME, '\n', on, at);
  uint32_t module = join_names(self, lane, TD_SPAN_MODULE, '.', on, at);
  int64_t sequence_nr = (int64_t)(node->key & TD_TRACE_SEQUENCE_MASK);
  node->id = tell_node(self, on, at, node->name, sequence_nr, stack);
  node->made_on = span->thread;
  self->n_stacks += stack != 0;
  if (module) TD_MAKE(self->maker, on, at, node_module, .node = node->id, .module = module);
}

/* The node before an AccumulateGrad on the only thread of a pass has just completed it. */
static void
tell_edge(td_trace_tape *self, td_open_pass *pass, const td_frame *leaf, uint32_t on) {
  if (pass->only_thread == TD_NONE) return;
  if (leaf->span.name != self->accumulate_grad) {
    pass->last_node = leaf->node;
  } else if (pass->last_node != TD_NONE) {
    TD_MAKE(self->maker, on, td_trace_tape_at(self, leaf->span.begin_ns), edge_new,
            .from = pass->last_node, .output_nr = TD_NONE, .to = leaf->node, .input_nr = 0);
    self->n_edges++;
  }
}

static void
open_evaluation(td_trace_tape *self, td_lane *lane) {
  td_frame *top = td_lane_top(lane);
  td_trace_node *known = td_trace_index_find(self->index, &top->span);
  td_open_pass *pass = enter_pass(self, lane, known);
  obtain_node(self, lane, known, top->span.begin_ns);
  uint32_t on = tell_thread(self, top->span.thread, top->span.begin_ns);
  tell_edge(self, pass, top, on);
  TD_MAKE(self->maker, on, td_trace_tape_at(self, top->span.begin_ns), thread_state,
          .state = TD_thread_activity_processing, .graph_task = top->graph_task);
}

static void
tell_hook(td_trace_tape *self, const td_frame *evaluation, bool is_begin, int64_t ns, uint32_t kind,
          uint32_t owner) {
  uint32_t on = self->threads[evaluation->span.thread].id;
  uint64_t at = td_trace_tape_at(self, ns);
  if (is_begin) {
    uint32_t name = intern(self, on, at, owner);
    TD_MAKE(self->maker, on, at, hook_begin, .node = evaluation->node, .kind = kind, .owner = name);
    self->n_hooks++;
  } else {
    TD_MAKE(self->maker, on, at, hook_end, .node = evaluation->node, .kind = kind);
  }
}

/* Operators before the node, with no Python function around that was seen, are a hook's. */
static void
end_nameless_hook(td_trace_tape *self, td_frame *evaluation) {
  if (evaluation->hook_end_ns == INT64_MIN) return;
  tell_hook(self, evaluation, false, evaluation->hook_end_ns, TD_hook_kind_tensor_pre, 0);
  evaluation->hook_end_ns = INT64_MIN;
}

static void
open_inside(td_trace_tape *self, td_frame *evaluation, td_frame *top) {
  const td_span *span = &top->span;
  if (span->kind == TD_SPAN_OP && !evaluation->node_seen && span->name == evaluation->span.name) {
    end_nameless_hook(self, evaluation);
    top->is_node = evaluation->node_seen = true;
    TD_MAKE(self->maker, self->threads[span->thread].id, td_trace_tape_at(self, span->begin_ns),
            node_begin, .node = evaluation->node, .graph_task = evaluation->graph_task);
    self->n_runs++;
  } else if (span->kind == TD_SPAN_FRAME) {
    end_nameless_hook(self, evaluation);
    const char *name = td_text_table_get(self->texts, span->name);
    bool of_a_module = strncmp(name, "torch/utils/hooks.py:", 21) == 0;
    top->is_hook = true;
    top->hook_kind = evaluation->node_seen ? TD_hook_kind_post
                     : of_a_module         ? TD_hook_kind_pre
                                           : TD_hook_kind_tensor_pre;
    tell_hook(self, evaluation, true, span->begin_ns, top->hook_kind, span->name);
  } else if (span->kind == TD_SPAN_OP && !evaluation->node_seen && span->end_ns > span->begin_ns) {
    if (evaluation->hook_end_ns == INT64_MIN)
      tell_hook(self, evaluation, true, span->begin_ns, TD_hook_kind_tensor_pre, 0);
    evaluation->hook_end_ns = span->end_ns;
  }
}

static void
tell_step(td_trace_tape *self, const td_span *span) {
  uint32_t on = tell_thread(self, span->thread, span->begin_ns);
  TD_MAKE(self->maker, on, td_trace_tape_at(self, span->begin_ns), step,
          .iteration = (uint32_t)span->sequence_nr);
  self->n_steps++;
}

static void
tell_mark(td_trace_tape *self, const td_span *span) {
  uint32_t on = tell_thread(self, span->thread, span->begin_ns);
  uint64_t at = td_trace_tape_at(self, span->begin_ns);
  uint32_t text = intern(self, on, at, span->name);
  TD_MAKE(self->maker, on, at, mark, .text = text);
}

static void
open_cb(td_lane *lane, uint32_t thread, void *data) {
  td_trace_tape *self = data;
  td_frame *top = td_lane_top(lane);
  td_span_kind kind = top->span.kind;
  if (kind == TD_SPAN_EVALUATION) {
    open_evaluation(self, lane);
    return;
  }
  bool is_point = kind == TD_SPAN_FLOW_OUT || kind == TD_SPAN_FLOW_IN;
  td_frame *around = lane->n > 1 ? &lane->frames[lane->n - 2] : NULL;
  bool inside = around && around->span.kind == TD_SPAN_EVALUATION;
  if (inside) open_inside(self, around, top);
  if (!is_point && !top->is_node) leave_pass(self, lane);
  if (kind == TD_SPAN_STEP) tell_step(self, &top->span);
  if (kind == TD_SPAN_ANNOTATION) tell_mark(self, &top->span);
  make_node(self, lane);
}

static void
close_evaluation(td_trace_tape *self, td_frame *frame) {
  uint32_t on = self->threads[frame->span.thread].id;
  uint64_t at = td_trace_tape_at(self, frame->span.end_ns);
  end_pass(self, &frame->inner);
  end_nameless_hook(self, frame);
  if (!frame->node_seen)
    TD_MAKE(self->maker, on, at, node_skip, .node = frame->node, .graph_task = frame->graph_task,
            .reason = TD_skip_reason_not_needed);
  TD_MAKE(self->maker, on, at, thread_state, .state = TD_thread_activity_idle,
          .graph_task = frame->graph_task);
}

static void
close_cb(td_lane *lane, uint32_t thread, void *data) {
  td_trace_tape *self = data;
  td_frame *top = td_lane_top(lane);
  td_frame *around = lane->n > 1 ? &lane->frames[lane->n - 2] : NULL;
  assert(around || !(top->is_node || top->is_hook)); /* they are inside an evaluation */
  if ((top->is_node || top->is_hook) && around->inner.graph_task != TD_NONE)
    end_pass(self, &around->inner);
  if (top->span.kind == TD_SPAN_EVALUATION)
    close_evaluation(self, top);
  else if (top->is_node)
    TD_MAKE(self->maker, self->threads[thread].id, td_trace_tape_at(self, top->span.end_ns),
            node_end, .node = around->node, .graph_task = around->graph_task);
  else if (top->is_hook)
    tell_hook(self, around, false, top->span.end_ns, top->hook_kind, 0);
}

/* The only thread that does more than evaluate, or TD_NONE. */
static uint32_t
find_caller(const td_trace_index *index) {
  uint32_t found = TD_NONE;
  for (uint32_t i = 0; i < index->n_threads; i++) {
    if (!index->n_plain[i]) continue;
    if (found != TD_NONE) return TD_NONE;
    found = i;
  }
  return found;
}

void
td_trace_tape_init(td_trace_tape *tape, uint32_t n_threads, int64_t slack_ns) {
  tape->accumulate_grad =
      td_text_table_put(tape->texts, TD_TRACE_ACCUMULATE_GRAD, strlen(TD_TRACE_ACCUMULATE_GRAD));
  tape->caller = find_caller(tape->index);
  tape->passes = TD_NEW_N(td_open_pass, n_threads);
  tape->joined = TD_NEW_N(uint32_t, n_threads);
  for (uint32_t i = 0; i < n_threads; i++) {
    tape->passes[i] = (td_open_pass){.graph_task = TD_NONE, .limit_ns = INT64_MAX};
    tape->joined[i] = TD_NONE;
  }
  td_nesting_init(&tape->nesting, n_threads, slack_ns, open_cb, close_cb, tape);
}

void
td_trace_tape_add(td_trace_tape *tape, const td_span *span) {
  td_nesting_add(&tape->nesting, span);
}

void
td_trace_tape_end(td_trace_tape *tape) {
  td_nesting_end(&tape->nesting);
  for (uint32_t i = 0; i < tape->nesting.n_lanes; i++)
    end_pass(tape, &tape->passes[i]);
}

void
td_trace_tape_fini(td_trace_tape *tape) {
  td_nesting_fini(&tape->nesting);
  td_number_map_fini(&tape->stacks);
  free(tape->passes);
  free(tape->joined);
}
