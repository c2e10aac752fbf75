/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/exchange/tape_walk.h"
#include "engine/exchange/track_flows.h"
#include "engine/exchange/track_names.h"
#include "engine/profile/held_waits.h"
#include "engine/profile/report/report_keys.h"
#include "engine/profile/span_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A node has ended, but the gradients that it hands on are still to come. */
typedef struct held_end {
  bool is_held;
  uint32_t track, node;
  uint64_t ns;
  td_flow_list flows;
} held_end;

typedef struct tracks {
  td_tape *tape;
  const td_track_sink *sink;
  const td_catalog *catalog; /* (borrowed) for the present event */
  td_number_map numbers;     /* by role and id: 1 + the track */
  td_span_stacks spans;      /* by thread */
  held_end *held;            /* (owned) [n_held] by thread */
  uint32_t n_held;
  td_number_map kernels; /* by track: how many are open */
  td_number_map passes;  /* by graph task: 1 + the track, or 0: it is over */
  uint32_t n_passes;     /* that are not over */
  td_flights flights;
  td_held_waits waits;
  td_track_wait ended; /* the wait that the present event ends */
  size_t ended_of;     /* its thread, or SIZE_MAX */
  char *holder;        /* (owned) */
  td_flow_list landed;
  uint64_t now;
} tracks;

static const td_track_flows no_flows = {NULL, 0};

/* ---- tracks ---- */

/* Announces a track that is new. */
static uint32_t
track_of(tracks *self, td_track_role role, uint32_t id, int32_t stream) {
  uint64_t key = (uint64_t)role << 62 | (uint64_t)((uint32_t)stream & 0x3fffffff) << 32 | id;
  uint64_t *number = td_number_map_put(&self->numbers, key);
  if (*number) return (uint32_t)*number - 1;
  *number = self->numbers.n;
  td_track_texts texts;
  td_track track = td_track_describe(self->catalog, role, id, stream, &texts);
  track.number = self->numbers.n - 1;
  self->sink->track(&track, self->sink->data);
  td_track_texts_fini(&texts);
  return track.number;
}

/* ---- ends that wait for gradients ---- */

static held_end *
held_of(tracks *self, uint32_t thread) {
  while (thread >= self->n_held) {
    uint32_t n = TD_MAX(2 * self->n_held, 8u);
    self->held = td_realloc(self->held, n, sizeof *self->held);
    memset(self->held + self->n_held, 0, (n - self->n_held) * sizeof *self->held);
    self->n_held = n;
  }
  return &self->held[thread];
}

static void
let_go(tracks *self, uint32_t thread) {
  held_end *held = held_of(self, thread);
  if (!held->is_held) return;
  td_track_flows begun = {held->flows.numbers, held->flows.n};
  self->sink->end(held->track, held->ns, begun, NULL, self->sink->data);
  held->is_held = false;
  held->flows.n = 0;
}

/* What has the same time must stand in the order of the tape. */
static void
let_go_before(tracks *self, uint32_t thread, uint64_t ns) {
  const held_end *held = held_of(self, thread);
  if (held->is_held && held->ns >= ns) let_go(self, thread);
}

/* ---- slices ---- */

static td_track_slice
slice_of_node(const tracks *self, const char *category, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(self->catalog, node);
  td_track_slice slice = {.category = category, .name = "?", .node = node, .graph_task = TD_NONE};
  if (!facts) return slice;
  if (*facts->name) slice.name = facts->name;
  slice.label = facts->label;
  slice.module = facts->module;
  return slice;
}

static void
opened_cb(size_t lane, uint32_t depth, const td_open_span *span, void *data) {
  tracks *self = data;
  uint32_t track = track_of(self, TD_ROLE_THREAD, (uint32_t)lane, 0);
  td_track_slice slice = slice_of_node(self, "node", span->item);
  char *name = NULL;
  self->landed.n = 0;
  if (span->kind == TD_SPAN_NODE) {
    slice.graph_task = span->about;
    td_flights_land(&self->flights, span->about, span->item, &self->landed);
  } else if (span->kind == TD_SPAN_LOCK) {
    const char *kind = td_enum_word(TD_FIELD_ENUM_lock_kind, span->item);
    name = td_format("wait for lock of %s %" PRIu32, kind ? kind : "?", span->about);
    slice = (td_track_slice){"lock", name, NULL, NULL, TD_NONE, TD_NONE};
  } else if (span->kind == TD_SPAN_SYNCHRONIZE) {
    const char *device = td_catalog_device_name(self->catalog, (int32_t)span->about);
    name = td_format("wait for stream %" PRId32 " of %s", (int32_t)span->item, device);
    slice = (td_track_slice){"stream", name, NULL, NULL, TD_NONE, TD_NONE};
  } else if (span->kind == TD_SPAN_COLLECTIVE) {
    name = td_format("wait for %s", td_tape_string(self->tape, span->about));
    slice = (td_track_slice){"collective", name, NULL, NULL, TD_NONE, span->item};
  } else {
    const char *owner = td_tape_string(self->tape, span->about);
    slice.category = "hook";
    slice.name = *owner ? owner : "hook";
  }
  td_track_flows ended = {self->landed.numbers, self->landed.n};
  let_go_before(self, (uint32_t)lane, span->begin_ns);
  self->sink->begin(track, span->begin_ns, &slice, ended, self->sink->data);
  free(name);
}

/* What a wait for a lock was for, told right before its span ends. */
static const td_track_wait *
wait_of(const tracks *self, size_t lane, const td_open_span *span) {
  return span->kind == TD_SPAN_LOCK && self->ended_of == lane ? &self->ended : NULL;
}

static void
wait_cb(const td_held_wait *wait, void *data) {
  tracks *self = data;
  uint32_t holder = td_held_wait_longest(wait)->holder;
  self->ended = (td_track_wait){0};
  self->ended_of = wait->thread;
  free(self->holder);
  self->holder = holder == TD_NONE ? NULL : td_report_thread_name(self->catalog, holder);
  self->ended.holder = self->holder;
  for (uint32_t i = 0; i < wait->n_stretches; i++) {
    self->ended.held_ns += wait->stretches[i].held_ns;
    self->ended.late_ns += wait->stretches[i].late_ns;
  }
}

static void
closed_cb(size_t lane, uint32_t depth, const td_open_span *span, uint64_t end_ns, void *data) {
  tracks *self = data;
  uint32_t track = track_of(self, TD_ROLE_THREAD, (uint32_t)lane, 0);
  if (span->kind == TD_SPAN_ACTIVITY) return;
  let_go_before(self, (uint32_t)lane, end_ns);
  if (span->kind != TD_SPAN_NODE) {
    self->sink->end(track, end_ns, no_flows, wait_of(self, lane, span), self->sink->data);
    return;
  }
  let_go(self, (uint32_t)lane);
  held_end *held = held_of(self, (uint32_t)lane);
  *held = (held_end){true, track, span->item, end_ns, held->flows};
}

/* A gradient that no node at hand has returned begins at a mark. */
static void
take_gradient(tracks *self, const td_event_buffer_add *add) {
  if (add->from == TD_NONE) return;
  uint32_t thread = add->event.thread;
  held_end *held = held_of(self, thread);
  uint64_t flow = td_flights_add(&self->flights, add->graph_task, add->node);
  if (held->is_held && held->node == add->from) {
    td_flow_list_add(&held->flows, flow);
    return;
  }
  td_track_slice slice = slice_of_node(self, "gradient", add->node);
  slice.graph_task = add->graph_task;
  uint32_t track = track_of(self, TD_ROLE_THREAD, thread, 0);
  let_go_before(self, thread, add->event.time);
  self->sink->mark(track, add->event.time, &slice, (td_track_flows){&flow, 1}, self->sink->data);
}

/* ---- passes ---- */

static void
end_open_pass(tracks *self, uint64_t *open, uint64_t now) {
  self->sink->end((uint32_t)*open - 1, now, no_flows, NULL, self->sink->data);
  *open = 0;
  self->n_passes--;
}

static void
begin_pass(tracks *self, const td_event_graph_task_begin *begin) {
  if (begin->owner == TD_NONE) return;
  char *name = td_format("graph task %" PRIu32, begin->graph_task);
  td_track_slice slice = {"pass", name, NULL, NULL, TD_NONE, begin->graph_task};
  uint32_t track = track_of(self, TD_ROLE_PASSES, begin->owner, 0);
  uint64_t *open = td_number_map_put(&self->passes, begin->graph_task);
  if (*open) end_open_pass(self, open, begin->event.time);
  *open = 1 + (uint64_t)track;
  self->n_passes++;
  self->sink->begin(track, begin->event.time, &slice, no_flows, self->sink->data);
  free(name);
}

static void
end_pass(tracks *self, const td_event_graph_task_end *end) {
  uint64_t *open = td_number_map_find(&self->passes, end->graph_task);
  if (!open || !*open) return;
  end_open_pass(self, open, end->event.time);
  if (self->n_passes) return;
  td_number_map_fini(&self->passes);
  td_flights_clear(&self->flights);
}

/* ---- devices, queues, marks ---- */

static void
take_kernel(tracks *self, const td_event_kernel *kernel) {
  uint32_t track = track_of(self, TD_ROLE_STREAM, (uint32_t)kernel->device, kernel->stream);
  td_track_slice slice = slice_of_node(self, "kernel", kernel->node);
  uint64_t begin = kernel->event.time + kernel->queued;
  slice.name = td_tape_string(self->tape, kernel->name);
  self->sink->begin(track, begin, &slice, no_flows, self->sink->data);
  self->sink->end(track, begin + kernel->took, no_flows, NULL, self->sink->data);
}

static void
begin_kernel(tracks *self, const td_event_kernel_begin *kernel) {
  uint32_t track = track_of(self, TD_ROLE_STREAM, (uint32_t)kernel->device, 0);
  td_track_slice slice = slice_of_node(self, "kernel", kernel->node);
  ++*td_number_map_put(&self->kernels, track);
  self->sink->begin(track, kernel->event.time, &slice, no_flows, self->sink->data);
}

static void
end_kernel(tracks *self, const td_event_kernel_end *kernel) {
  uint32_t track = track_of(self, TD_ROLE_STREAM, (uint32_t)kernel->device, 0);
  uint64_t *n = td_number_map_find(&self->kernels, track);
  if (!n || !*n) return;
  --*n;
  self->sink->end(track, kernel->event.time, no_flows, NULL, self->sink->data);
}

static void
take_size(tracks *self, const td_event *event, const td_event_type *type) {
  uint32_t queue = td_event_u32(event, type->sample.queue);
  if (queue == TD_NONE) return;
  uint32_t track = track_of(self, TD_ROLE_QUEUE, queue, 0);
  self->sink->count(track, event->time, td_event_u32(event, type->sample.size), self->sink->data);
}

static void
take_flag(tracks *self, const td_any_event *any, const td_event_type *type) {
  uint32_t about = td_event_u32(&any->event, type->flag.about);
  uint32_t track = track_of(self, TD_ROLE_THREAD, any->event.thread, 0);
  td_track_slice slice = {type->name, type->name, NULL, NULL, TD_NONE, TD_NONE};
  char step[32];
  snprintf(step, sizeof step, "step %" PRIu32, about);
  if (type->flag.flag == TD_FLAG_step) slice.name = step;
  if (type->flag.flag == TD_FLAG_mark) slice.name = td_tape_string(self->tape, about);
  if (type->flag.flag == TD_FLAG_problem) slice.node = about;
  let_go_before(self, any->event.thread, any->event.time);
  self->sink->mark(track, any->event.time, &slice, no_flows, self->sink->data);
}

static void
take(tracks *self, const td_any_event *any) {
  switch (any->event.kind) {
  case TD_EVENT_buffer_add:
    return take_gradient(self, &any->buffer_add);
  case TD_EVENT_queue_pop:
    return let_go(self, any->event.thread);
  case TD_EVENT_graph_task_begin:
    return begin_pass(self, &any->graph_task_begin);
  case TD_EVENT_graph_task_end:
    return end_pass(self, &any->graph_task_end);
  case TD_EVENT_kernel:
    return take_kernel(self, &any->kernel);
  case TD_EVENT_kernel_begin:
    return begin_kernel(self, &any->kernel_begin);
  case TD_EVENT_kernel_end:
    return end_kernel(self, &any->kernel_end);
  default:
    return;
  }
}

static void
event_cb(const td_catalog *catalog, uint64_t seq, const td_any_event *any, void *data) {
  tracks *self = data;
  const td_event_type *type = td_event_type_get(any->event.kind);
  self->catalog = catalog;
  self->now = TD_MAX(self->now, any->event.time);
  self->ended_of = SIZE_MAX;
  td_held_waits_take(&self->waits, any, seq, any->event.time);
  take(self, any);
  if (type->lane == TD_LANE_queue) take_size(self, &any->event, type);
  if (type->lane == TD_LANE_flags && type->flag.flag) take_flag(self, any, type);
  if (type->span.edge && type->span.edge != TD_EDGE_change && type->lane == TD_LANE_thread)
    td_span_stacks_take(&self->spans, any->event.thread, seq, any);
}

static void
whole_cb(const td_catalog *catalog, uint64_t first, uint64_t end, void *data) {
  tracks *self = data;
  self->catalog = catalog;
  self->ended_of = SIZE_MAX;
  td_span_stacks_finish(&self->spans, 0, self->now);
  for (uint32_t i = 0; i < self->n_held; i++)
    let_go(self, i);
  for (uint32_t i = 0; i < self->passes.n; i++)
    if (self->passes.entries[i].value)
      end_open_pass(self, &self->passes.entries[i].value, self->now);
}

static void
fini(tracks *self) {
  td_span_stacks_fini(&self->spans);
  td_held_waits_fini(&self->waits);
  free(self->holder);
  td_flights_clear(&self->flights);
  td_number_map_fini(&self->numbers);
  td_number_map_fini(&self->kernels);
  for (uint32_t i = 0; i < self->n_held; i++)
    free(self->held[i].flows.numbers);
  free(self->landed.numbers);
  free(self->held);
  td_number_map_fini(&self->passes);
}

td_status
td_tracks_write(td_tape *tape, const td_export_wish *wish, const td_track_sink *sink,
                td_error *error) {
  tracks self = {.tape = tape, .sink = sink};
  self.spans = (td_span_stacks){.listener = closed_cb, .opened = opened_cb, .data = &self};
  self.waits = (td_held_waits){.listener = wait_cb, .data = &self};
  const td_walk_listener listener = {.event = event_cb, .whole = whole_cb, .data = &self};
  td_status status = td_tape_walk(tape, wish, &listener, error);
  fini(&self);
  return status;
}
