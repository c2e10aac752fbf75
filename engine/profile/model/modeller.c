/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/modeller.h"

#include "engine/base/alloc.h"
#include "engine/profile/model/pass_handings.h"
#include "engine/profile/model/pass_locks.h"
#include "engine/profile/model/wakes.h"
#include "engine/profile/task_end.h"

#include <string.h>

#define DEVICES_MAX 1024
#define FRAMES_MAX 64u /* tasks inside one another on a thread */

/* A task that a thread is at. */
typedef struct frame {
  uint32_t task;
  uint64_t pop_ns, away_ns; /* of it, for other tasks */
  uint32_t last;            /* handing, or TD_NONE */
  bool is_finished;
} frame;

typedef struct lane {
  frame *frames; /* (owned) innermost last */
  uint32_t n, capacity;
  bool is_listed; /* in modeller->busy */
  uint32_t piece; /* of the innermost task, or TD_NONE */
  td_pass_wait wait;
  td_model_wait *before; /* (owned) waits since the last task */
  uint32_t n_before, before_capacity;
} lane;

struct td_modeller {
  td_model_listener listen;
  void *data;
  td_pass_model model; /* its deliveries are made at the end */
  uint32_t pass_capacity, task_capacity, piece_capacity, wait_capacity;
  uint32_t n_under_way, n_left_out;
  uint64_t order;   /* counts events */
  bool *has_failed; /* (owned) by pass */
  uint32_t failed_capacity;
  td_handings handings;
  td_pass_locks locks;
  td_number_map pass_of; /* by graph task: 1 + the pass */
  td_number_map pushed;  /* by task_key: when it was pushed */
  lane *lanes;           /* (owned) by thread */
  uint32_t n_lanes;
  uint32_t *busy; /* (owned) threads that had a task since the last delivery */
  uint32_t n_busy, busy_capacity;
  uint32_t n_queues; /* that model.n_devices counts */
  td_wakes wakes;
};

static uint64_t
task_key(uint32_t graph_task, uint32_t node) {
  return (uint64_t)graph_task << 32 | node;
}

static uint64_t
find(const td_number_map *map, uint64_t key) {
  const uint64_t *found = td_number_map_find(map, key);
  return found ? *found : 0;
}

static lane *
lane_of(td_modeller *self, uint32_t thread) {
  while (thread >= self->n_lanes) {
    uint32_t n = TD_MAX(2 * self->n_lanes, 8u);
    self->lanes = td_realloc(self->lanes, n, sizeof *self->lanes);
    for (uint32_t i = self->n_lanes; i < n; i++)
      self->lanes[i] = (lane){.piece = TD_NONE};
    self->n_lanes = n;
  }
  return &self->lanes[thread];
}

static frame *
top_of(lane *lane) {
  return lane->n ? &lane->frames[lane->n - 1] : NULL;
}

static td_model_task *
task_at(td_modeller *self, lane *lane) {
  return lane->n ? &self->model.tasks[lane->frames[lane->n - 1].task] : NULL;
}

/* How far a task is, without the time of other tasks. */
static uint64_t
offset_in(const frame *frame, uint64_t now) {
  return now - TD_MIN(now, frame->pop_ns + frame->away_ns);
}

/* ---- the model is whole ---- */

static void
clear(td_modeller *self) {
  td_pass_model *model = &self->model;
  free(model->deliveries);
  model->deliveries = NULL;
  model->n_passes = model->n_tasks = model->n_deliveries = 0;
  model->n_pieces = model->n_waits = 0;
  model->has_bytes = false;
  for (uint32_t i = 0; i < self->n_busy; i++) {
    lane *lane = &self->lanes[self->busy[i]];
    lane->n = lane->n_before = 0;
    lane->piece = TD_NONE;
    lane->is_listed = lane->wait.is_on = false;
  }
  self->n_busy = 0;
  td_number_map_fini(&self->pass_of);
  td_number_map_fini(&self->pushed);
  td_handings_clear(&self->handings);
  td_pass_locks_clear(&self->locks);
}

/* A pass that failed has told only a part. So its model would be none. */
static void
deliver(td_modeller *self) {
  uint32_t n_failed = 0;
  for (uint32_t i = 0; i < self->model.n_passes; i++)
    n_failed += self->has_failed[i];
  self->n_left_out += n_failed ? self->model.n_passes : 0;
  if (n_failed == 0 && self->model.n_passes) {
    self->model.wake_ns = td_wakes_median(&self->wakes);
    td_handings_make(&self->handings, &self->model);
    self->listen(&self->model, self->data);
  }
  clear(self);
}

/* ---- passes ---- */

/* A queue of a device that no machine has counts as the CPU's. */
static int32_t
device_of(const td_catalog *catalog, uint32_t queue) {
  int32_t device = catalog->queues[queue].device;
  return device < 0 || device >= DEVICES_MAX ? TD_DEVICE_CPU : device;
}

/* All queues of a tape are known from its first segment on. */
static void
count_devices(td_modeller *self, const td_catalog *catalog) {
  uint32_t *n = &self->model.n_devices;
  for (; self->n_queues < catalog->n_queues; self->n_queues++)
    *n = TD_MAX(*n, (uint32_t)(device_of(catalog, self->n_queues) + 1));
}

static void
begin_pass(td_modeller *self, const td_catalog *catalog, const td_event_graph_task_begin *event) {
  td_pass_model *model = &self->model;
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, event->graph_task);
  if (!facts || facts->outer != TD_NONE || facts->caller != TD_NONE) return;
  TD_GROW(self->has_failed, model->n_passes, self->failed_capacity);
  TD_GROW(model->passes, model->n_passes, self->pass_capacity);
  self->has_failed[model->n_passes] = false;
  model->passes[model->n_passes++] = (td_model_pass){.graph_task = event->graph_task,
                                                     .owner = event->owner,
                                                     .begin_ns = event->event.time,
                                                     .lead_ns = UINT64_MAX};
  *td_number_map_put(&self->pass_of, event->graph_task) = model->n_passes;
  self->n_under_way++;
  count_devices(self, catalog);
}

/* tail_ns has been the end of the last task so far. */
static void
end_pass(td_modeller *self, const td_event_graph_task_end *event) {
  uint32_t pass = (uint32_t)find(&self->pass_of, event->graph_task) - 1;
  if (pass == TD_NONE || self->model.passes[pass].end_ns) return;
  td_model_pass *now = &self->model.passes[pass];
  now->end_ns = event->event.time;
  uint64_t last = now->n_tasks ? TD_MAX(now->tail_ns, now->begin_ns) : now->begin_ns;
  now->lead_ns = TD_MIN(now->lead_ns, now->end_ns - now->begin_ns);
  now->tail_ns = now->end_ns - TD_MIN(last, now->end_ns);
  if (!now->n_tasks) now->tail_ns -= TD_MIN(now->tail_ns, now->lead_ns);
  self->has_failed[pass] = event->status != TD_task_status_ok;
  if (--self->n_under_way == 0) deliver(self);
}

/* ---- pieces ---- */

/* How far a thread is. */
static td_model_place
place_in(const td_modeller *self, const lane *lane, uint64_t now) {
  if (!lane->n) return TD_NO_PLACE;
  uint64_t begin = self->model.pieces[lane->piece].offset_ns;
  uint64_t offset = offset_in(&lane->frames[lane->n - 1], now);
  return (td_model_place){lane->piece, offset - TD_MIN(begin, offset)};
}

static void
end_piece(td_modeller *self, lane *lane, uint64_t now) {
  td_model_place place = place_in(self, lane, now);
  if (place.piece != TD_NONE) self->model.pieces[place.piece].length_ns = place.offset_ns;
}

/* The waits that led to it are the last n ones of the model. */
static void
begin_piece(td_modeller *self, lane *lane, uint64_t offset, uint32_t n_waits) {
  td_pass_model *model = &self->model;
  TD_GROW(model->pieces, model->n_pieces, self->piece_capacity);
  lane->piece = model->n_pieces;
  model->pieces[model->n_pieces++] = (td_model_piece){.task = lane->frames[lane->n - 1].task,
                                                      .first_wait = model->n_waits - n_waits,
                                                      .n_waits = n_waits,
                                                      .offset_ns = offset};
}

static void
add_wait(td_modeller *self, const td_model_wait *wait) {
  TD_GROW(self->model.waits, self->model.n_waits, self->wait_capacity);
  self->model.waits[self->model.n_waits++] = *wait;
}

/* ---- tasks ---- */

static void
close_task(td_modeller *self, lane *lane, const frame *top, uint64_t now) {
  td_model_task *task = &self->model.tasks[top->task];
  td_model_pass *pass = &self->model.passes[task->pass];
  end_piece(self, lane, now);
  task->total_ns = offset_in(top, now);
  if (!pass->end_ns) pass->tail_ns = TD_MAX(pass->tail_ns, now);
  uint64_t took = now - TD_MIN(now, top->pop_ns);
  lane->n--;
  lane->piece = TD_NONE;
  if (!lane->n) return;
  top_of(lane)->away_ns += took;
  begin_piece(self, lane, offset_in(top_of(lane), now), 0);
}

static void
note_wake(td_modeller *self, const td_event_queue_pop *event) {
  uint64_t pushed = find(&self->pushed, task_key(event->graph_task, event->node));
  uint64_t now = event->event.time;
  if (!event->waited || !pushed || pushed > now) return;
  td_wakes_add(&self->wakes, now - pushed);
}

/* An owner that takes its own first task was awake until then. */
static void
note_first(td_model_pass *pass, const td_event_queue_pop *event) {
  if (pass->n_tasks == 1 && event->event.thread == pass->owner)
    pass->lead_ns = event->event.time - TD_MIN(pass->begin_ns, event->event.time);
}

static void
list_busy(td_modeller *self, lane *lane, uint32_t thread) {
  if (lane->is_listed) return;
  TD_GROW(self->busy, self->n_busy, self->busy_capacity);
  self->busy[self->n_busy++] = thread;
  lane->is_listed = true;
}

static void
start_task(td_modeller *self, const td_catalog *catalog, lane *lane,
           const td_event_queue_pop *event) {
  td_pass_model *model = &self->model;
  uint32_t pass = (uint32_t)find(&self->pass_of, event->graph_task) - 1;
  if (pass == TD_NONE || event->node == TD_NONE || event->queue == TD_NONE) return;
  const td_catalog_node *node = td_catalog_node_find(catalog, event->node);
  if (!node) return;
  note_wake(self, event);
  end_piece(self, lane, event->event.time);
  if (lane->n == FRAMES_MAX) lane->n = 0;
  list_busy(self, lane, event->event.thread);
  TD_GROW(lane->frames, lane->n, lane->capacity);
  lane->frames[lane->n++] =
      (frame){.task = model->n_tasks, .pop_ns = event->event.time, .last = TD_NONE};
  TD_GROW(model->tasks, model->n_tasks, self->task_capacity);
  model->tasks[model->n_tasks++] = (td_model_task){.node = event->node,
                                                   .pass = pass,
                                                   .thread = event->event.thread,
                                                   .device = device_of(catalog, event->queue),
                                                   .sequence_nr = node->sequence_nr,
                                                   .piece = model->n_pieces,
                                                   .name = node->name};
  for (uint32_t i = 0; i < lane->n_before; i++)
    add_wait(self, &lane->before[i]);
  begin_piece(self, lane, 0, lane->n_before);
  lane->n_before = 0;
  model->passes[pass].n_tasks++;
  note_first(&model->passes[pass], event);
  td_handings_know(&self->handings, event->graph_task, event->node, model->n_tasks - 1);
}

static void
note_push(td_modeller *self, const td_event_queue_push *event) {
  uint32_t pass = (uint32_t)find(&self->pass_of, event->graph_task) - 1;
  if (pass == TD_NONE || event->node == TD_NONE) return;
  *td_number_map_put(&self->pushed, task_key(event->graph_task, event->node)) = event->event.time;
  td_model_pass *now = &self->model.passes[pass];
  if (now->lead_ns == UINT64_MAX)
    now->lead_ns = event->event.time - TD_MIN(now->begin_ns, event->event.time);
}

static void
hand_on(td_modeller *self, lane *lane, const td_event_dependency_dec *event) {
  td_model_task *task = task_at(self, lane);
  if (!task || task->node != event->by) return;
  if (self->model.passes[task->pass].graph_task != event->graph_task) return;
  frame *top = top_of(lane);
  top->last =
      td_handings_add(&self->handings, (td_handing){.from = top->task,
                                                    .to_node = event->node,
                                                    .offset_ns = offset_in(top, event->event.time),
                                                    .piece = lane->piece});
}

static void
note_bytes(td_modeller *self, lane *lane, const td_event_buffer_add *event) {
  const frame *top = top_of(lane);
  bool is_added = event->mode == TD_accumulation_in_place ||
                  event->mode == TD_accumulation_out_of_place ||
                  event->mode == TD_accumulation_undefined;
  if (!top || top->last == TD_NONE || is_added) return;
  td_handing *last = &self->handings.items[top->last];
  if (last->to_node == event->node) last->bytes += event->bytes;
}

static void
note_function(td_modeller *self, lane *lane, uint32_t node, uint64_t now, bool begins) {
  td_model_task *task = task_at(self, lane);
  if (!task || task->node != node) return;
  uint64_t offset = offset_in(top_of(lane), now);
  if (begins)
    task->begin_ns = offset;
  else
    task->apply_ns = offset - TD_MIN(offset, task->begin_ns);
}

static void
finish_task(td_modeller *self, lane *lane, uint32_t graph_task) {
  const td_model_task *task = task_at(self, lane);
  if (task && self->model.passes[task->pass].graph_task == graph_task)
    top_of(lane)->is_finished = true;
}

static void
close_finished(td_modeller *self, lane *lane, uint64_t now) {
  const frame *top = top_of(lane);
  if (top && top->is_finished) close_task(self, lane, top, now);
}

/* Threads of devices may not have said what they did next. */
static void
close_all(td_modeller *self, uint64_t now) {
  for (uint32_t i = 0; i < self->n_busy && self->n_under_way == 1; i++)
    close_finished(self, &self->lanes[self->busy[i]], now);
}

/* ---- locks ---- */

static void
begin_wait(td_modeller *self, lane *lane, const td_event_lock_wait *event) {
  list_busy(self, lane, event->event.thread);
  lane->wait = (td_pass_wait){.is_on = true,
                              .lock = event->lock,
                              .object = event->object,
                              .holder = TD_NONE,
                              .holder_piece = TD_NONE,
                              .order = self->order,
                              .begin_ns = event->event.time,
                              .from = place_in(self, lane, event->event.time)};
}

static void
note_holder(td_modeller *self, lane *lane, const td_event_lock_held *event) {
  if (!td_pass_wait_is_for(&lane->wait, event->lock, event->object)) return;
  lane->wait.holder = event->holder;
  if (event->holder < self->n_lanes) lane->wait.holder_piece = self->lanes[event->holder].piece;
}

static void
note_release(td_modeller *self, const lane *lane, const td_event_lock_released *event) {
  td_pass_lock *lock = td_pass_locks_get(&self->locks, event->lock, event->object);
  lock->releaser = event->event.thread;
  lock->released_order = self->order;
  lock->released = place_in(self, lane, event->event.time);
}

/* Who found a lock free does not tell when it gave it back: that is at latest when the next one
 * gets it. A task gives back all its locks but the GIL. */
static td_model_place
guess_release(const td_modeller *self, const td_pass_wait *wait, uint64_t now) {
  const td_model_piece *pieces = self->model.pieces;
  if (wait->holder >= self->n_lanes) return TD_NO_PLACE;
  const lane *holder = &self->lanes[wait->holder];
  bool was_at_task = wait->holder_piece != TD_NONE;
  bool is_at_it =
      holder->n &&
      (wait->lock == TD_lock_kind_gil ||
       (was_at_task && pieces[wait->holder_piece].task == holder->frames[holder->n - 1].task));
  if (is_at_it) return holder->wait.is_on ? holder->wait.from : place_in(self, holder, now);
  if (!was_at_task) return TD_NO_PLACE;
  return (td_model_place){wait->holder_piece, pieces[wait->holder_piece].length_ns};
}

/* Of a wait inside a task. */
static void
split_task(td_modeller *self, lane *lane, const td_model_wait *wait, uint64_t now) {
  const td_model_place *from = &lane->wait.from;
  td_model_piece *piece = &self->model.pieces[from->piece];
  uint64_t begin = piece->offset_ns + from->offset_ns;
  piece->length_ns = from->offset_ns;
  self->model.tasks[piece->task].locked_ns += wait->ns;
  add_wait(self, wait);
  if (wait->holder_piece == TD_NONE) {
    begin_piece(self, lane, begin, 1);
    self->model.pieces[lane->piece].length_ns = wait->ns;
  }
  const frame *top = &lane->frames[lane->n - 1];
  begin_piece(self, lane, offset_in(top, now), wait->holder_piece != TD_NONE);
}

static void
end_wait(td_modeller *self, lane *lane, const td_event_lock_acquired *event) {
  uint32_t thread = event->event.thread;
  uint64_t now = event->event.time;
  td_pass_wait *wait = &lane->wait;
  bool is_known = td_pass_wait_is_for(wait, event->lock, event->object);
  bool is_whole = wait->from.piece == lane->piece; /* else other tasks came between */
  wait->is_on = false;
  td_pass_lock *lock = td_pass_locks_get(&self->locks, event->lock, event->object);
  if (is_known && is_whole) {
    bool is_told = td_pass_wait_settle(wait, lock, thread);
    td_model_place place = is_told ? lock->released : guess_release(self, wait, now);
    const td_model_wait found = {.lock = wait->lock,
                                 .object = wait->object,
                                 .thread = thread,
                                 .holder = wait->holder,
                                 .holder_piece = place.piece,
                                 .holder_offset_ns = place.offset_ns,
                                 .ns = now - TD_MIN(now, wait->begin_ns)};
    if (lane->n) {
      split_task(self, lane, &found, now);
    } else if (place.piece != TD_NONE) {
      TD_GROW(lane->before, lane->n_before, lane->before_capacity);
      lane->before[lane->n_before++] = found;
    }
  }
  lock->taker = thread;
  lock->taken_order = self->order;
  lock->taker_piece = lane->piece;
}

void
td_modeller_apply(td_modeller *self, const td_catalog *catalog, const td_any_event *any) {
  if (any->event.kind == TD_EVENT_kernel_begin || any->event.kind == TD_EVENT_kernel_end) return;
  if (self->n_under_way == 0 && any->event.kind != TD_EVENT_graph_task_begin) return;
  lane *lane = lane_of(self, any->event.thread);
  uint64_t now = any->event.time;
  self->order++;
  if (!td_task_goes_on(any->event.kind)) close_finished(self, lane, now);
  switch (any->event.kind) {
  case TD_EVENT_graph_task_begin:
    return begin_pass(self, catalog, &any->graph_task_begin);
  case TD_EVENT_graph_task_end:
    close_all(self, now);
    return end_pass(self, &any->graph_task_end);
  case TD_EVENT_queue_push:
    return note_push(self, &any->queue_push);
  case TD_EVENT_queue_pop:
    return start_task(self, catalog, lane, &any->queue_pop);
  case TD_EVENT_node_begin:
    return note_function(self, lane, any->node_begin.node, now, true);
  case TD_EVENT_node_end:
    return note_function(self, lane, any->node_end.node, now, false);
  case TD_EVENT_dependency_dec:
    return hand_on(self, lane, &any->dependency_dec);
  case TD_EVENT_buffer_add:
    return note_bytes(self, lane, &any->buffer_add);
  case TD_EVENT_outstanding:
    return finish_task(self, lane, any->outstanding.graph_task);
  case TD_EVENT_lock_wait:
    return begin_wait(self, lane, &any->lock_wait);
  case TD_EVENT_lock_held:
    return note_holder(self, lane, &any->lock_held);
  case TD_EVENT_lock_acquired:
    return end_wait(self, lane, &any->lock_acquired);
  case TD_EVENT_lock_released:
    return note_release(self, lane, &any->lock_released);
  default:
    return;
  }
}

uint32_t
td_modeller_end(td_modeller *self) {
  self->n_left_out += self->model.n_passes;
  return self->n_left_out;
}

td_modeller *
td_modeller_new(td_model_listener listen, void *data) {
  td_modeller *self = TD_NEW(td_modeller);
  self->listen = listen;
  self->data = data;
  return self;
}

void
td_modeller_free(td_modeller *self) {
  clear(self);
  for (uint32_t i = 0; i < self->n_lanes; i++) {
    free(self->lanes[i].frames);
    free(self->lanes[i].before);
  }
  free(self->lanes);
  free(self->busy);
  free(self->has_failed);
  td_handings_fini(&self->handings);
  td_pass_locks_fini(&self->locks);
  free(self->model.pieces);
  free(self->model.waits);
  free(self->model.passes);
  free(self->model.tasks);
  free(self);
}
