/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/profile/model/modeller_state.h"

static td_model_frame *
top_of(const td_model_lane *lane) {
  return lane->n ? &lane->frames[lane->n - 1] : NULL;
}

static td_model_lane *
lane_at(const td_modeller *self, uint32_t thread) {
  return thread < self->n_lanes ? &self->lanes[thread] : NULL;
}

/* ---- holds ---- */

static td_model_hold *
open_of(const td_modeller *self, const td_model_frame *frame, uint32_t lock) {
  uint32_t open = frame && lock < TD_N_LOCKS ? frame->open[lock] : 0;
  return open ? &self->model.holds[open - 1] : NULL;
}

static td_model_hold *
open_hold(td_modeller *self, td_model_frame *frame, td_lock_kind lock, uint32_t object,
          uint64_t begin, uint64_t now) {
  TD_GROW(self->model.holds, self->model.n_holds, self->hold_capacity);
  td_model_hold *hold = &self->model.holds[self->model.n_holds++];
  uint64_t since = td_model_offset_in(frame, now) - begin;
  *hold = (td_model_hold){frame->task, lock, object, begin, begin, now - since, false};
  frame->open[lock] = self->model.n_holds;
  return hold;
}

static void
close_hold(td_modeller *self, td_model_frame *frame, uint32_t lock, uint64_t now) {
  td_model_hold *hold = open_of(self, frame, lock);
  if (!hold) return;
  hold->end_ns = TD_MAX(hold->begin_ns, td_model_offset_in(frame, now));
  frame->open[lock] = 0;
  frame->since[lock] = hold->end_ns;
}

/* What was taken for the begin of a hold was that of a wait. */
static void
drop_hold(td_modeller *self, td_model_frame *frame, uint32_t lock) {
  td_model_hold *hold = open_of(self, frame, lock);
  if (hold) hold->task = TD_NONE;
  frame->open[lock] = 0;
}

static void
close_that_of(td_modeller *self, td_model_frame *frame, uint32_t lock, uint32_t object,
              uint64_t now) {
  const td_model_hold *hold = open_of(self, frame, lock);
  if (hold && hold->object == object) close_hold(self, frame, lock, now);
}

/* A thread that hands on has the lock of the pass at least until its last event. */
void
td_modeller_close_holds(td_modeller *self, td_model_frame *frame, uint64_t now) {
  close_hold(self, frame, TD_lock_kind_gil, now);
  close_hold(self, frame, TD_lock_kind_node, now);
}

/* ---- what a task does ---- */

static uint32_t
graph_task_of(const td_modeller *self, const td_model_frame *frame) {
  return self->model.passes[self->model.tasks[frame->task].pass].graph_task;
}

static void
hand_on(td_modeller *self, td_model_frame *frame, const td_any_event *any) {
  uint64_t offset = td_model_offset_in(frame, any->event.time);
  td_model_hold *hold = open_of(self, frame, TD_lock_kind_graph_task);
  bool begins = any->event.kind == TD_EVENT_dependency_dec &&
                any->dependency_dec.graph_task == graph_task_of(self, frame) &&
                any->dependency_dec.by == self->model.tasks[frame->task].node;
  if (!hold && begins)
    hold = open_hold(self, frame, TD_lock_kind_graph_task, any->dependency_dec.graph_task, offset,
                     any->event.time);
  if (hold) hold->end_ns = TD_MAX(hold->begin_ns, offset);
}

static void
begin_function(td_modeller *self, td_model_frame *frame, const td_event_node_begin *event) {
  const td_model_task *task = &self->model.tasks[frame->task];
  uint64_t offset = td_model_offset_in(frame, event->event.time);
  frame->since[TD_lock_kind_gil] = offset;
  if (event->node != task->node) return;
  frame->since[TD_lock_kind_node] = offset;
  bool is_leaf = task->sequence_nr == UINT64_MAX;
  if (is_leaf && !frame->open[TD_lock_kind_node])
    open_hold(self, frame, TD_lock_kind_node, event->node, offset, event->event.time);
}

static void
add_stall(td_modeller *self, const td_model_frame *frame, td_freeable what, bool follows,
          uint64_t begin, uint64_t now) {
  TD_GROW(self->model.stalls, self->model.n_stalls, self->stall_capacity);
  self->model.stalls[self->model.n_stalls++] = (td_model_stall){
      frame->task, what, follows, begin, TD_MAX(begin, td_model_offset_in(frame, now))};
}

static void
begin_hook(td_model_frame *frame, uint64_t now) {
  uint64_t offset = td_model_offset_in(frame, now);
  if (!frame->n_hooks++) frame->hook_ns = offset;
  frame->since[TD_lock_kind_gil] = offset;
}

static void
end_hook(td_modeller *self, td_model_frame *frame, uint64_t now) {
  if (!frame->n_hooks) return;
  frame->since[TD_lock_kind_gil] = td_model_offset_in(frame, now);
  if (!--frame->n_hooks) add_stall(self, frame, TD_FREE_hook, false, frame->hook_ns, now);
}

/* ---- waits ---- */

/* A leaf's thread waits after its node_begin. */
static void
begin_wait(td_modeller *self, td_model_frame *frame, const td_event_lock_wait *event) {
  if (event->lock != TD_lock_kind_node)
    close_that_of(self, frame, event->lock, event->object, event->event.time);
}

static bool
is_waiting_for(const td_model_lane *lane, td_lock_kind lock, uint32_t object) {
  return lane->wait.is_on && lane->wait.lock == lock && lane->wait.object == object;
}

/* The holder has the lock. If that is news, an event before told when it can have taken it. */
static void
name_holder(td_modeller *self, td_model_lane *lane, const td_event_lock_held *event) {
  const td_model_lane *holder = lane_at(self, event->holder);
  td_model_frame *frame = holder ? top_of(holder) : NULL;
  if (!is_waiting_for(lane, event->lock, event->object) || !frame || holder == lane) return;
  if (event->lock == TD_lock_kind_queue || event->lock >= TD_N_LOCKS) return;
  lane->wait.named = event->holder;
  const td_model_hold *hold = open_of(self, frame, event->lock);
  if (hold && hold->object == event->object) return;
  close_hold(self, frame, event->lock, event->event.time);
  uint64_t now = td_model_offset_in(frame, event->event.time);
  uint64_t since = event->lock == TD_lock_kind_graph_task ? now : frame->since[event->lock];
  open_hold(self, frame, event->lock, event->object, TD_MIN(since, now), event->event.time);
}

static void
end_wait(td_modeller *self, td_model_lane *lane, const td_event_lock_acquired *event) {
  td_model_frame *frame = top_of(lane);
  uint64_t now = event->event.time;
  const td_lock_wait *wait = &lane->wait;
  if (!is_waiting_for(lane, event->lock, event->object)) return;
  const td_model_lane *holder = lane_at(self, wait->named);
  if (holder) close_that_of(self, top_of(holder), event->lock, event->object, now);
  if (!frame || wait->from.piece != lane->piece) return;
  add_stall(self, frame, td_model_freeable_of(event->lock), wait->named != TD_NONE, wait->begin_ns,
            now);
  if (event->lock == TD_lock_kind_queue || event->lock >= TD_N_LOCKS) return;
  drop_hold(self, frame, event->lock);
  open_hold(self, frame, event->lock, event->object, td_model_offset_in(frame, now), now)
      ->was_awaited = true;
}

void
td_modeller_note_holds(td_modeller *self, td_model_lane *lane, const td_any_event *any) {
  td_model_frame *frame = top_of(lane);
  uint64_t now = any->event.time;
  switch (any->event.kind) {
  case TD_EVENT_lock_held:
    return name_holder(self, lane, &any->lock_held);
  case TD_EVENT_lock_acquired:
    return end_wait(self, lane, &any->lock_acquired);
  default:
    break;
  }
  if (!frame) return;
  switch (any->event.kind) {
  case TD_EVENT_lock_wait:
    return begin_wait(self, frame, &any->lock_wait);
  case TD_EVENT_lock_released:
    return close_that_of(self, frame, any->lock_released.lock, any->lock_released.object, now);
  case TD_EVENT_node_begin:
    return begin_function(self, frame, &any->node_begin);
  case TD_EVENT_node_end:
    frame->since[TD_lock_kind_gil] = td_model_offset_in(frame, now);
    return close_that_of(self, frame, TD_lock_kind_node, any->node_end.node, now);
  case TD_EVENT_hook_begin:
    return begin_hook(frame, now);
  case TD_EVENT_hook_end:
    return end_hook(self, frame, now);
  case TD_EVENT_dependency_dec:
  case TD_EVENT_buffer_add:
  case TD_EVENT_buffer_ready:
  case TD_EVENT_queue_push:
    return hand_on(self, frame, any);
  default:
    return;
  }
}

/* ---- the model is whole ---- */

static int
compare_holds(const void *a, const void *b) {
  const td_model_hold *left = a, *right = b;
  if (left->task != right->task) return left->task < right->task ? -1 : 1;
  if (left->begin_ns != right->begin_ns) return left->begin_ns < right->begin_ns ? -1 : 1;
  if (left->lock != right->lock) return left->lock < right->lock ? -1 : 1;
  return (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
}

static int
compare_stalls(const void *a, const void *b) {
  const td_model_stall *left = a, *right = b;
  if (left->task != right->task) return left->task < right->task ? -1 : 1;
  if (left->begin_ns != right->begin_ns) return left->begin_ns < right->begin_ns ? -1 : 1;
  return (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
}

static int
compare_by_lock(const void *a, const void *b) {
  const td_model_hold *left = a, *right = b;
  if (left->lock != right->lock) return left->lock < right->lock ? -1 : 1;
  if (left->object != right->object) return left->object < right->object ? -1 : 1;
  if (left->taken_ns != right->taken_ns) return left->taken_ns < right->taken_ns ? -1 : 1;
  return compare_holds(a, b);
}

/* One thread has a lock at a time. A hold whose end the tape tells late was over before the next
 * one began. */
static void
end_before_next(td_modeller *self) {
  td_pass_model *model = &self->model;
  if (model->n_holds) qsort(model->holds, model->n_holds, sizeof *model->holds, compare_by_lock);
  for (uint32_t i = 0; i + 1 < model->n_holds; i++) {
    td_model_hold *hold = &model->holds[i], *next = &model->holds[i + 1];
    if (hold->lock != next->lock || hold->object != next->object) continue;
    uint64_t apart = next->taken_ns - hold->taken_ns;
    uint64_t lasts = TD_MIN(hold->end_ns - hold->begin_ns, apart);
    hold->end_ns = hold->begin_ns + lasts;
    if (next->was_awaited) td_wakes_add(&self->lock_wakes, apart - lasts);
  }
}

static void
keep(td_pass_model *model, bool (*matters)(const td_pass_model *model, const td_model_hold *hold)) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < model->n_holds; i++)
    if (matters(model, &model->holds[i])) model->holds[n++] = model->holds[i];
  model->n_holds = n;
}

static bool
was_one(const td_pass_model *model, const td_model_hold *hold) {
  (void)model;
  return hold->task != TD_NONE;
}

/* Passes that follow one another never meet at a leaf. */
static bool
can_keep_waiting(const td_pass_model *model, const td_model_hold *hold) {
  bool is_met = hold->lock != TD_lock_kind_node || model->n_passes > 1;
  return is_met && hold->end_ns > hold->begin_ns;
}

void
td_modeller_sort_holds(td_modeller *self) {
  td_pass_model *model = &self->model;
  keep(model, was_one);
  end_before_next(self);
  keep(model, can_keep_waiting);
  if (model->n_holds) qsort(model->holds, model->n_holds, sizeof *model->holds, compare_holds);
  if (model->n_stalls) qsort(model->stalls, model->n_stalls, sizeof *model->stalls, compare_stalls);
}
