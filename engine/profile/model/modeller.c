/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/modeller.h"

#include "engine/base/alloc.h"
#include "engine/profile/model/modeller_state.h"
#include "engine/profile/task_end.h"

#include <string.h>

#define DEVICES_MAX 1024
#define FRAMES_MAX 64u /* tasks inside one another on a thread */

static uint64_t
task_key(uint32_t graph_task, uint32_t node) {
  return (uint64_t)graph_task << 32 | node;
}

static uint64_t
find(const td_number_map *map, uint64_t key) {
  const uint64_t *found = td_number_map_find(map, key);
  return found ? *found : 0;
}

static td_model_lane *
lane_of(td_modeller *self, uint32_t thread) {
  while (thread >= self->n_lanes) {
    uint32_t n = TD_MAX(2 * self->n_lanes, 8u);
    self->lanes = td_realloc(self->lanes, n, sizeof *self->lanes);
    for (uint32_t i = self->n_lanes; i < n; i++)
      self->lanes[i] = (td_model_lane){.piece = TD_NONE};
    self->n_lanes = n;
  }
  return &self->lanes[thread];
}

static td_model_frame *
top_of(td_model_lane *lane) {
  return lane->n ? &lane->frames[lane->n - 1] : NULL;
}

static td_model_task *
task_at(td_modeller *self, td_model_lane *lane) {
  return lane->n ? &self->model.tasks[lane->frames[lane->n - 1].task] : NULL;
}

/* ---- the model is whole ---- */

static void
clear(td_modeller *self) {
  td_pass_model *model = &self->model;
  free(model->deliveries);
  model->deliveries = NULL;
  model->n_passes = model->n_tasks = model->n_deliveries = 0;
  model->n_pieces = model->n_waits = model->n_holds = model->n_stalls = 0;
  model->has_bytes = false;
  for (uint32_t i = 0; i < self->n_busy; i++) {
    td_model_lane *lane = &self->lanes[self->busy[i]];
    lane->n = lane->n_before = 0;
    lane->piece = TD_NONE;
    lane->is_listed = lane->wait.is_on = lane->stream_wait.is_on = false;
  }
  self->n_busy = 0;
  td_number_map_fini(&self->pass_of);
  td_number_map_fini(&self->pushed);
  td_handings_clear(&self->handings);
  td_pass_streams_clear(&self->streams);
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
    td_modeller_sort_holds(self);
    self->model.lock_wake_ns = td_wakes_median(&self->lock_wakes);
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

/* ---- tasks ---- */

static void
close_task(td_modeller *self, td_model_lane *lane, td_model_frame *top, uint64_t now) {
  td_model_task *task = &self->model.tasks[top->task];
  td_model_pass *pass = &self->model.passes[task->pass];
  td_modeller_end_piece(self, lane, now);
  td_modeller_close_holds(self, top, now);
  task->total_ns = td_model_offset_in(top, now);
  if (!pass->end_ns) pass->tail_ns = TD_MAX(pass->tail_ns, now);
  uint64_t took = now - TD_MIN(now, top->pop_ns);
  lane->n--;
  lane->piece = TD_NONE;
  if (!lane->n) return;
  top_of(lane)->away_ns += took;
  td_modeller_begin_piece(self, lane, td_model_offset_in(top_of(lane), now), 0);
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
start_task(td_modeller *self, const td_catalog *catalog, td_model_lane *lane,
           const td_event_queue_pop *event) {
  td_pass_model *model = &self->model;
  uint32_t pass = (uint32_t)find(&self->pass_of, event->graph_task) - 1;
  if (pass == TD_NONE || event->node == TD_NONE || event->queue == TD_NONE) return;
  const td_catalog_node *node = td_catalog_node_find(catalog, event->node);
  if (!node) return;
  note_wake(self, event);
  td_modeller_end_piece(self, lane, event->event.time);
  if (lane->n == FRAMES_MAX) lane->n = 0;
  td_modeller_list_busy(self, lane, event->event.thread);
  TD_GROW(lane->frames, lane->n, lane->capacity);
  lane->frames[lane->n++] =
      (td_model_frame){.task = model->n_tasks, .pop_ns = event->event.time, .last = TD_NONE};
  TD_GROW(model->tasks, model->n_tasks, self->task_capacity);
  model->tasks[model->n_tasks++] = (td_model_task){.node = event->node,
                                                   .pass = pass,
                                                   .thread = event->event.thread,
                                                   .device = device_of(catalog, event->queue),
                                                   .sequence_nr = node->sequence_nr,
                                                   .piece = model->n_pieces,
                                                   .name = node->name};
  for (uint32_t i = 0; i < lane->n_before; i++)
    td_modeller_add_wait(self, &lane->before[i]);
  td_modeller_begin_piece(self, lane, 0, lane->n_before);
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
hand_on(td_modeller *self, td_model_lane *lane, const td_event_dependency_dec *event) {
  td_model_task *task = task_at(self, lane);
  if (!task || task->node != event->by) return;
  if (self->model.passes[task->pass].graph_task != event->graph_task) return;
  td_model_frame *top = top_of(lane);
  top->last = td_handings_add(&self->handings,
                              (td_handing){.from = top->task,
                                           .to_node = event->node,
                                           .offset_ns = td_model_offset_in(top, event->event.time),
                                           .piece = lane->piece});
}

static void
note_bytes(td_modeller *self, td_model_lane *lane, const td_event_buffer_add *event) {
  const td_model_frame *top = top_of(lane);
  bool is_added = event->mode == TD_accumulation_in_place ||
                  event->mode == TD_accumulation_out_of_place ||
                  event->mode == TD_accumulation_undefined;
  if (!top || top->last == TD_NONE || is_added) return;
  td_handing *last = &self->handings.items[top->last];
  if (last->to_node == event->node) last->bytes += event->bytes;
}

static void
note_function(td_modeller *self, td_model_lane *lane, uint32_t node, uint64_t now, bool begins) {
  td_model_task *task = task_at(self, lane);
  if (!task || task->node != node) return;
  uint64_t offset = td_model_offset_in(top_of(lane), now);
  if (begins)
    task->begin_ns = offset;
  else
    task->apply_ns = offset - TD_MIN(offset, task->begin_ns);
}

static void
finish_task(td_modeller *self, td_model_lane *lane, uint32_t graph_task) {
  const td_model_task *task = task_at(self, lane);
  if (task && self->model.passes[task->pass].graph_task == graph_task)
    top_of(lane)->is_finished = true;
}

static void
close_finished(td_modeller *self, td_model_lane *lane, uint64_t now) {
  td_model_frame *top = top_of(lane);
  if (top && top->is_finished) close_task(self, lane, top, now);
}

/* Threads of devices may not have said what they did next. */
static void
close_all(td_modeller *self, uint64_t now) {
  for (uint32_t i = 0; i < self->n_busy && self->n_under_way == 1; i++)
    close_finished(self, &self->lanes[self->busy[i]], now);
}

/* ---- events ---- */

/* Kernels that were launched before a pass keep those of the pass waiting. */
static bool
counts_outside(td_event_kind kind) {
  return kind == TD_EVENT_graph_task_begin || kind == TD_EVENT_kernel ||
         kind == TD_EVENT_stream_wait;
}

static void
apply(td_modeller *self, const td_catalog *catalog, const td_any_event *any) {
  if (self->n_under_way == 0 && !counts_outside(any->event.kind)) return;
  td_model_lane *lane = lane_of(self, any->event.thread);
  uint64_t now = any->event.time;
  self->now = now;
  if (any->event.kind == TD_EVENT_lock_acquired) td_modeller_note_holds(self, lane, any);
  td_held_waits_take(&self->locks, any, 0, now);
  if (!td_task_goes_on(any->event.kind)) close_finished(self, lane, now);
  if (any->event.kind != TD_EVENT_lock_acquired) td_modeller_note_holds(self, lane, any);
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
    return td_modeller_begin_lock_wait(self, lane, &any->lock_wait);
  case TD_EVENT_kernel:
    return td_modeller_launch(self, lane, &any->kernel);
  case TD_EVENT_stream_record:
    return td_modeller_record(self, &any->stream_record);
  case TD_EVENT_stream_wait:
    return td_modeller_join(self, &any->stream_wait);
  case TD_EVENT_synchronize_begin:
    return td_modeller_begin_stream_wait(self, lane, &any->synchronize_begin);
  case TD_EVENT_synchronize_end:
    return td_modeller_end_stream_wait(self, lane, &any->synchronize_end);
  default:
    return;
  }
}

/* A model has no pauses in it, and no tape is changed for that. */
void
td_modeller_apply(td_modeller *self, const td_catalog *catalog, const td_any_event *any) {
  if (any->event.kind == TD_EVENT_kernel_begin || any->event.kind == TD_EVENT_kernel_end) return;
  uint64_t now = td_pauses_take(&self->pauses, any);
  if (!self->pauses.left_out) return apply(self, catalog, any);
  td_any_event moved;
  memcpy(&moved, any, td_event_type_get(any->event.kind)->size);
  moved.event.time = now;
  apply(self, catalog, &moved);
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
  self->locks = (td_held_waits){
      .listener = td_modeller_waited_cb, .freed = td_modeller_freed_cb, .data = self};
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
  td_held_waits_fini(&self->locks);
  td_pass_streams_fini(&self->streams);
  free(self->model.pieces);
  free(self->model.waits);
  free(self->model.holds);
  free(self->model.stalls);
  free(self->model.passes);
  free(self->model.tasks);
  free(self);
}
