/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/lives.h"

#include "engine/base/alloc.h"
#include "engine/profile/report/life_passes.h"
#include "engine/profile/report/life_times.h"
#include "engine/profile/report/life_waits.h"
#include "engine/profile/task_end.h"

#define SPANS_MAX 8 /* hooks and locks inside one another */

/* Nodes inside one another on a thread. Engines move deeper passes to other threads long before. */
#define FRAMES_MAX 256

typedef enum phase {
  PREPARING, /* popped */
  APPLYING,
  SCATTERING, /* the function has returned */
  ENDED,      /* so has the task: a probe's next event says for how long */
  SUSPENDED,  /* a pass runs inside the function */
  IN_PRE_HOOK,
  IN_POST_HOOK,
  IN_LOCK_WAIT,
} phase;

/* A node at work on a thread. */
typedef struct frame {
  td_life life;
  phase phase;
  bool has_ended, hands_on;
  phase around[SPANS_MAX]; /* the phases that the spans interrupted */
  td_life_span spans[SPANS_MAX];
  uint32_t n_spans;
  td_life_times times;
} frame;

typedef struct lane {
  frame *frames; /* (owned) innermost last */
  uint32_t n, capacity;
  td_range_time last; /* of its last event */
  uint32_t busy_for;  /* pass, or TD_NONE */
  double turn_ns;     /* of that pass, shared out up to then */
} lane;

struct td_lives {
  td_life_listener listener;
  bool pushes_known;  /* the clock is read there */
  bool release_known; /* there too */
  lane *lanes;        /* (owned) by thread */
  uint32_t n_lanes;
  td_life_passes passes;
  td_life_waits waits;
  td_range_clock clock;
  uint64_t
      now; /* of the last event: the clock's; 1 more in a range, as waits take 0 for "not yet" */
  uint64_t seq;
};

static uint64_t
tape_ns(const td_lives *self) {
  return td_range_clock_ns(&self->clock);
}

/* A reentrant_enter follows if the pass is inside another one. */
static void
begin_pass(td_lives *self, const td_event_graph_task_begin *event) {
  if (event->depth == 0) td_life_passes_begin(&self->passes, event->graph_task, self->now);
}

static void
end_pass(td_lives *self, uint32_t graph_task) {
  td_life_passes_end(&self->passes, graph_task, self->now);
  if (self->passes.n_under_way == 0) td_life_waits_fini(&self->waits); /* nothing waits */
}

static void
note_work(td_lives *self, lane *lane) {
  const frame *top = lane->n ? &lane->frames[lane->n - 1] : NULL;
  bool at_work = top && top->phase != PREPARING && top->phase != SUSPENDED &&
                 (top->phase != SCATTERING || self->release_known);
  uint32_t pass = at_work ? top->life.pass : TD_NONE;
  if (pass == lane->busy_for) return;
  if (lane->busy_for != TD_NONE) td_life_passes_rest(&self->passes, lane->busy_for, self->now);
  if (pass != TD_NONE) {
    td_life_passes_work(&self->passes, pass, self->now);
    lane->turn_ns = td_life_passes_turn(&self->passes, pass, self->now);
  }
  lane->busy_for = pass;
}

/* ---- time between two events of a thread ---- */

static td_life_part
part_of_scattering(const td_lives *self, const frame *frame, td_event_kind kind) {
  if (!self->pushes_known)
    return frame->hands_on && kind != TD_EVENT_node_free ? TD_LIFE_accumulate : TD_LIFE_release;
  if (kind == TD_EVENT_queue_push || kind == TD_EVENT_queue_wake) return TD_LIFE_push;
  return kind == TD_EVENT_release ? TD_LIFE_release : TD_LIFE_accumulate;
}

/* TD_N_LIFE_PARTS: it is time of no part. */
static td_life_part
part_of_time(const td_lives *self, const frame *frame, td_event_kind kind) {
  static const td_life_part parts[] = {[APPLYING] = TD_LIFE_apply,
                                       [IN_PRE_HOOK] = TD_LIFE_pre_hooks,
                                       [IN_POST_HOOK] = TD_LIFE_post_hooks,
                                       [IN_LOCK_WAIT] = TD_LIFE_lock_wait};
  if (frame->phase == PREPARING || frame->phase == SUSPENDED) return TD_N_LIFE_PARTS;
  if (frame->phase != SCATTERING && frame->phase != ENDED) return parts[frame->phase];
  return self->release_known ? part_of_scattering(self, frame, kind) : TD_N_LIFE_PARTS;
}

static void
add_share(td_lives *self, lane *lane, frame *frame, td_life_part part) {
  if (lane->busy_for == TD_NONE) return;
  double turn_ns = td_life_passes_turn(&self->passes, lane->busy_for, self->now);
  frame->life.shares[part] += turn_ns - lane->turn_ns;
  lane->turn_ns = turn_ns;
}

static void
add_time(td_lives *self, lane *lane, td_event_kind kind) {
  td_range_time now = td_range_clock_time(&self->clock);
  td_range_time passed = td_range_time_since(&lane->last, &now);
  frame *top = lane->n ? &lane->frames[lane->n - 1] : NULL;
  lane->last = now;
  td_life_part part = top ? part_of_time(self, top, kind) : TD_N_LIFE_PARTS;
  if (part == TD_N_LIFE_PARTS) return;
  td_life_times_add(&top->times, &top->life, part, &passed);
  add_share(self, lane, top, part);
}

/* The recorder told of its work when that was over. If it told of other things meanwhile, they
 * lie within. */
static void
add_recorder(td_lives *self, lane *lane, uint64_t took) {
  frame *top = lane->n ? &lane->frames[lane->n - 1] : NULL;
  td_life_part part = top ? part_of_time(self, top, TD_EVENT_recorder_took) : TD_N_LIFE_PARTS;
  if (part != TD_N_LIFE_PARTS && lane->busy_for != TD_NONE)
    return td_life_times_record(&top->times, &top->life, part, took,
                                self->passes.items[lane->busy_for].n_busy);
  td_range_time now = td_range_clock_time(&self->clock), taken = td_range_time_last(&now, took);
  td_life_passes_record(&self->passes, self->now - taken.inside, self->now);
}

static void
add_no_core(td_lives *self, lane *lane, uint64_t waited) {
  frame *top = lane->n ? &lane->frames[lane->n - 1] : NULL;
  if (!top || top->phase == PREPARING || top->phase == SUSPENDED) return;
  td_life_part part = part_of_time(self, top, TD_EVENT_core_wait);
  td_life_times_lack(&top->times, &top->life, part, waited);
}

/* ---- frames ---- */

static frame *
top_of(lane *lane) {
  return lane->n ? &lane->frames[lane->n - 1] : NULL;
}

static void
finish(td_lives *self, lane *lane) {
  const frame *top = &lane->frames[--lane->n];
  void (*tell)(const td_life *, void *) =
      top->has_ended ? self->listener.life : self->listener.unfinished;
  if (tell && top->life.pass != TD_NONE) tell(&top->life, self->listener.data);
}

static frame *
start(td_lives *self, lane *lane, uint32_t thread, uint32_t node, uint32_t graph_task) {
  while (lane->n >= FRAMES_MAX)
    finish(self, lane);
  TD_GROW(lane->frames, lane->n, lane->capacity);
  frame *top = &lane->frames[lane->n++];
  top->life = (td_life){.node = node,
                        .graph_task = graph_task,
                        .thread = thread,
                        .pass = td_life_passes_find(&self->passes, graph_task),
                        .queue = TD_NONE,
                        .begin_seq = self->seq,
                        .begin_ns = tape_ns(self),
                        .end_ns = tape_ns(self)};
  top->times = (td_life_times){0};
  top->phase = PREPARING;
  top->has_ended = top->hands_on = false;
  top->n_spans = 0;
  return top;
}

static void
end_wait(td_lives *self, td_life *life) {
  td_life_wait *wait = td_life_waits_get(&self->waits, life->graph_task, life->node);
  if (!wait->push_ns) return;
  life->parts[TD_LIFE_queue_wait] = self->now - wait->push_ns;
  if (wait->arrival_ns) life->parts[TD_LIFE_dependency_wait] = wait->push_ns - wait->arrival_ns;
  *wait = (td_life_wait){0};
}

/* What is left of earlier nodes has been thrown out by an error, or told no end. */
static void
clear_to_suspended(td_lives *self, lane *lane) {
  while (lane->n && lane->frames[lane->n - 1].phase != SUSPENDED)
    finish(self, lane);
}

static void
popped(td_lives *self, lane *lane, const td_event_queue_pop *event) {
  clear_to_suspended(self, lane);
  if (event->node == TD_NONE || event->graph_task == TD_NONE) return;
  frame *top = start(self, lane, event->event.thread, event->node, event->graph_task);
  top->life.queue = event->queue;
  top->life.popped_ns = tape_ns(self);
  end_wait(self, &top->life);
  top->life.late_ns = TD_MIN(event->waited, top->life.parts[TD_LIFE_queue_wait]);
}

static void
began(td_lives *self, lane *lane, const td_event_node_begin *event) {
  frame *top = top_of(lane);
  bool was_popped = top && top->phase == PREPARING && top->life.node == event->node;
  if (!was_popped && (!top || top->has_ended)) clear_to_suspended(self, lane);
  if (!was_popped) top = start(self, lane, event->event.thread, event->node, event->graph_task);
  top->phase = APPLYING;
  top->life.begin_seq = self->seq;
  top->life.begin_ns = top->life.end_ns = tape_ns(self);
}

static void
ended(td_lives *self, lane *lane, const td_event_node_end *event) {
  uint32_t at = lane->n;
  while (at && (lane->frames[at - 1].life.node != event->node ||
                lane->frames[at - 1].life.graph_task != event->graph_task))
    at--;
  if (!at) return;
  while (lane->n > at)
    finish(self, lane);
  frame *top = &lane->frames[at - 1];
  top->phase = SCATTERING;
  top->life.end_ns = tape_ns(self);
  top->has_ended = true;
  top->n_spans = 0;
  if (top->life.queue == TD_NONE) finish(self, lane);
}

static void
hand_on(lane *lane, const td_event_dependency_dec *event) {
  frame *top = top_of(lane);
  if (top && top->phase == SCATTERING && top->life.node == event->by) top->hands_on = true;
}

/* A task is finished: the thread's node, unless that is of another pass. */
static void
completed(td_lives *self, lane *lane, uint32_t graph_task) {
  frame *top = top_of(lane);
  if (!top || top->phase == SUSPENDED || top->life.graph_task != graph_task) return;
  if (self->release_known && !self->pushes_known)
    top->phase = ENDED;
  else
    finish(self, lane);
}

/* A task that has ended lasts until its thread does something else. */
static void
end_life(td_lives *self, lane *lane) {
  const frame *top = top_of(lane);
  if (!top || top->phase != ENDED) return;
  finish(self, lane);
  note_work(self, lane);
}

/* ---- hooks and locks ---- */

static phase
hook_phase(uint32_t kind) {
  bool is_post = kind == TD_hook_kind_post || kind == TD_hook_kind_post_accumulate_grad;
  return is_post ? IN_POST_HOOK : IN_PRE_HOOK;
}

static void
enter(td_lives *self, lane *lane, phase phase, td_life_span span) {
  frame *top = top_of(lane);
  if (!top || top->n_spans == SPANS_MAX) return;
  span.pass = top->life.pass;
  span.node = top->life.node;
  span.begin_seq = self->seq;
  span.begin_ns = tape_ns(self);
  span.ns = self->now; /* of the clock, until it ends */
  top->around[top->n_spans] = top->phase;
  top->spans[top->n_spans++] = span;
  top->phase = phase;
}

static void
leave(td_lives *self, lane *lane, td_event_kind kind) {
  frame *top = top_of(lane);
  if (!top || !top->n_spans || top->spans[top->n_spans - 1].kind != kind) return;
  td_life_span *span = &top->spans[--top->n_spans];
  top->phase = top->around[top->n_spans];
  span->ns = self->now - span->ns;
  if (span->pass != TD_NONE && self->listener.span) self->listener.span(span, self->listener.data);
}

/* ---- events ---- */

static void
set_phase(lane *lane, phase phase) {
  frame *top = top_of(lane);
  if (top) top->phase = phase;
}

static void
nest(td_lives *self, lane *lane, const td_event_reentrant_enter *event) {
  td_life_passes_nest(&self->passes, event->graph_task, event->outer, self->now);
  set_phase(lane, SUSPENDED);
}

/* Most events change no frame. */
static void
change(td_lives *self, lane *lane, const td_any_event *any) {
  switch (any->event.kind) {
  case TD_EVENT_graph_task_begin:
    return begin_pass(self, &any->graph_task_begin);
  case TD_EVENT_graph_task_end:
    return end_pass(self, any->graph_task_end.graph_task);
  case TD_EVENT_buffer_add:
    return td_life_waits_arrive(&self->waits, &any->buffer_add, self->now);
  case TD_EVENT_queue_push:
    return td_life_waits_push(&self->waits, &any->queue_push, self->now);
  case TD_EVENT_dependency_dec:
    return hand_on(lane, &any->dependency_dec);
  case TD_EVENT_queue_pop:
    popped(self, lane, &any->queue_pop);
    break;
  case TD_EVENT_node_begin:
    began(self, lane, &any->node_begin);
    break;
  case TD_EVENT_node_end:
    ended(self, lane, &any->node_end);
    break;
  case TD_EVENT_outstanding:
    completed(self, lane, any->outstanding.graph_task);
    break;
  case TD_EVENT_hook_begin:
    enter(self, lane, hook_phase(any->hook_begin.kind),
          (td_life_span){.kind = TD_EVENT_hook_begin,
                         .thread = any->event.thread,
                         .owner = any->hook_begin.owner});
    break;
  case TD_EVENT_hook_end:
    leave(self, lane, TD_EVENT_hook_begin);
    break;
  case TD_EVENT_lock_wait:
    enter(self, lane, IN_LOCK_WAIT,
          (td_life_span){.kind = TD_EVENT_lock_wait,
                         .thread = any->event.thread,
                         .lock = any->lock_wait.lock,
                         .object = any->lock_wait.object});
    break;
  case TD_EVENT_lock_acquired:
    leave(self, lane, TD_EVENT_lock_wait);
    break;
  case TD_EVENT_core_wait:
    return add_no_core(self, lane, any->core_wait.waited);
  case TD_EVENT_recorder_took:
    return add_recorder(self, lane, any->recorder_took.took);
  case TD_EVENT_reentrant_enter:
    nest(self, lane, &any->reentrant_enter);
    break;
  case TD_EVENT_reentrant_leave:
    clear_to_suspended(self, lane);
    set_phase(lane, APPLYING);
    break;
  default:
    return;
  }
  note_work(self, lane);
}

static void
add_lanes(td_lives *self, uint32_t thread) {
  while (thread >= self->n_lanes) {
    uint32_t n = TD_MAX(2 * self->n_lanes, 8u);
    self->lanes = td_realloc(self->lanes, n, sizeof *self->lanes);
    for (uint32_t i = self->n_lanes; i < n; i++)
      self->lanes[i] = (lane){.busy_for = TD_NONE};
    self->n_lanes = n;
  }
}

/* Kernels have times of their device. */
static bool
is_of_device(td_event_kind kind) {
  return kind == TD_EVENT_kernel_begin || kind == TD_EVENT_kernel_end;
}

void
td_lives_at(td_lives *self, uint64_t seq) {
  self->seq = seq;
}

void
td_lives_apply(td_lives *self, const td_any_event *event) {
  if (is_of_device(event->event.kind)) return;
  if (event->event.thread >= self->n_lanes) add_lanes(self, event->event.thread);
  lane *lane = &self->lanes[event->event.thread];
  self->now = td_range_clock_take(&self->clock, event) + self->clock.range.is_set;
  add_time(self, lane, event->event.kind);
  if (!td_task_goes_on(event->event.kind)) end_life(self, lane);
  change(self, lane, event);
}

const td_life_pass *
td_lives_pass(const td_lives *self, uint32_t pass) {
  return &self->passes.items[pass];
}

uint32_t
td_lives_node(const td_lives *self, uint32_t thread) {
  if (thread >= self->n_lanes || !self->lanes[thread].n) return TD_NONE;
  const frame *top = &self->lanes[thread].frames[self->lanes[thread].n - 1];
  return top->phase == ENDED ? TD_NONE : top->life.node;
}

uint32_t
td_lives_busy_pass(const td_lives *self, uint32_t thread) {
  return thread < self->n_lanes ? self->lanes[thread].busy_for : TD_NONE;
}

bool
td_lives_is_busy(const td_lives *self, uint32_t thread) {
  return td_lives_busy_pass(self, thread) != TD_NONE;
}

td_range_time
td_lives_time(const td_lives *self) {
  return td_range_clock_time(&self->clock);
}

uint32_t
td_lives_n_under_way(const td_lives *self) {
  return self->passes.n_under_way;
}

uint32_t
td_lives_find_pass(td_lives *self, uint32_t graph_task) {
  return td_life_passes_find(&self->passes, graph_task);
}

/* A thread may tell nothing for long before the tape ends inside its pass. */
static void
add_rest(td_lives *self, lane *lane) {
  frame *top = top_of(lane);
  if (!top || top->life.pass == TD_NONE) return;
  td_life_part part = part_of_time(self, top, TD_EVENT_session_end);
  if (!self->passes.items[top->life.pass].has_ended)
    add_time(self, lane, TD_EVENT_session_end);
  else if (part != TD_N_LIFE_PARTS)
    add_share(self, lane, top, part);
}

uint32_t
td_lives_end(td_lives *self) {
  for (uint32_t i = 0; i < self->n_lanes; i++) {
    add_rest(self, &self->lanes[i]);
    while (self->lanes[i].n)
      finish(self, &self->lanes[i]);
    note_work(self, &self->lanes[i]);
  }
  for (uint32_t i = 0; i < self->passes.n; i++)
    if (!self->passes.items[i].has_ended) self->passes.items[i].end_ns = self->now;
  return self->passes.n;
}

td_lives *
td_lives_new(const td_tape_info *info, td_life_listener listener) {
  td_lives *self = TD_NEW(td_lives);
  self->listener = listener;
  self->pushes_known = td_life_is_known(info, TD_LIFE_push);
  self->release_known = td_life_is_known(info, TD_LIFE_release);
  return self;
}

void
td_lives_limit(td_lives *self, const td_range *range) {
  self->clock.range = *range;
  self->now = range->is_set;
}

void
td_lives_free(td_lives *self) {
  for (uint32_t i = 0; i < self->n_lanes; i++)
    free(self->lanes[i].frames);
  free(self->lanes);
  td_life_passes_fini(&self->passes);
  td_life_waits_fini(&self->waits);
  free(self);
}
