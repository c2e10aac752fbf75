/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "ui/draw/timeline.h"
#include "ui/draw/timeline_picture.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <string.h>

/* Something that has begun on a thread or device and not ended. */
typedef struct frame {
  uint64_t begin;
  uint32_t kind, item;
} frame;

typedef struct stack {
  frame *frames; /* (owned) */
  size_t n, capacity;
  uint64_t since; /* of the present activity */
  uint32_t activity;
} stack;

typedef struct collector {
  td_timeline *timeline;
  td_tape *tape;
  td_stream_collector streams;
  stack *stacks; /* (owned) [timeline->n_lanes] */
} collector;

static td_lane *
add_lane(td_timeline *timeline, td_event_lane kind, uint32_t id, int32_t device, char *title,
         char *note) {
  TD_GROW(timeline->lanes, timeline->n_lanes, timeline->lane_capacity);
  td_lane *lane = &timeline->lanes[timeline->n_lanes++];
  *lane = (td_lane){.kind = kind, .id = id, .device = device, .title = title, .note = note};
  return lane;
}

/* Processes have bands of their own, so a thread's name is enough. */
static void
add_thread_lane(td_timeline *timeline, uint32_t i) {
  const td_catalog *catalog = timeline->catalog;
  const td_catalog_thread *thread = &catalog->threads[i];
  const char *device = td_catalog_device_label(catalog, thread->device);
  td_lane *lane =
      add_lane(timeline, TD_LANE_thread, i, thread->device,
               *thread->name ? td_dup_string(thread->name) : td_format("thread %" PRIu32, i),
               thread->in_pool ? td_format("%s, thread pool", device) : td_dup_string(device));
  lane->process = thread->process;
}

static void
add_stream_lane(td_timeline *timeline, int32_t device, int32_t stream) {
  if (td_stream_lane_find(timeline, device, stream) != SIZE_MAX) return;
  td_lane *lane =
      add_lane(timeline, TD_LANE_stream, (uint32_t)device, device,
               td_dup_string(td_catalog_device_label(timeline->catalog, device)),
               stream ? td_format("stream %d", (int)stream) : td_dup_string("default stream"));
  lane->stream = stream;
  td_stream_lane_note(timeline, device, stream, timeline->n_lanes - 1);
}

/* Every accelerator has its default stream; the streams of one lie beside each other. */
static void
add_device_lanes(td_timeline *timeline, int32_t device) {
  const td_catalog *catalog = timeline->catalog;
  if (device < 0) return;
  add_stream_lane(timeline, device, 0);
  for (uint32_t i = 0; i < catalog->n_streams; i++)
    if (catalog->streams[i].device == device)
      add_stream_lane(timeline, device, catalog->streams[i].stream);
}

static void
add_lanes(td_timeline *timeline) {
  const td_catalog *catalog = timeline->catalog;
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    add_thread_lane(timeline, i);
  for (uint32_t i = 0; i < catalog->n_devices; i++)
    add_device_lanes(timeline, catalog->devices[i].device);
  for (uint32_t i = 0; i < catalog->n_queues; i++) {
    td_lane *lane =
        add_lane(timeline, TD_LANE_queue, i, catalog->queues[i].device,
                 td_format("%s queue", td_catalog_device_label(catalog, catalog->queues[i].device)),
                 td_dup_string("length"));
    lane->process = td_catalog_process_of_queue(catalog, i);
  }
}

/* The queues have the last lanes, in their order. */
static td_lane *
lane_of_queue(const td_timeline *timeline, uint32_t queue) {
  uint32_t n_queues = timeline->catalog->n_queues;
  return queue < n_queues ? &timeline->lanes[timeline->n_lanes - n_queues + queue] : NULL;
}

static void
begin_frame(collector *self, size_t lane, uint64_t time, uint32_t kind, uint32_t item) {
  if (lane == SIZE_MAX) return;
  stack *frames = &self->stacks[lane];
  TD_GROW(frames->frames, frames->n, frames->capacity);
  frames->frames[frames->n++] = (frame){time, kind, item};
}

static void
close_top(collector *self, size_t lane, uint64_t time) {
  stack *frames = &self->stacks[lane];
  td_lane *rows = &self->timeline->lanes[lane];
  frame top = frames->frames[--frames->n];
  while (rows->n_rows <= frames->n) {
    TD_GROW(rows->rows, rows->n_rows, rows->row_capacity);
    rows->rows[rows->n_rows++] = (td_spans){0};
  }
  td_spans_push(&rows->rows[frames->n], (td_span){top.begin, time, top.kind, top.item});
}

/* Ends the innermost such frame and whatever an exception left open inside it; an end without a
 * begin is nothing. */
static void
end_frame(collector *self, size_t lane, uint64_t time, uint32_t kind, uint32_t item) {
  if (lane == SIZE_MAX) return;
  stack *frames = &self->stacks[lane];
  size_t at = frames->n;
  while (at > 0 && (frames->frames[at - 1].kind != kind || frames->frames[at - 1].item != item))
    at--;
  if (at == 0) return;
  while (frames->n >= at)
    close_top(self, lane, time);
}

static void
change_activity(collector *self, size_t lane, uint64_t time, uint32_t activity) {
  if (lane == SIZE_MAX) return;
  stack *frames = &self->stacks[lane];
  if (time > frames->since)
    td_spans_push(&self->timeline->lanes[lane].activity,
                  (td_span){frames->since, time, frames->activity, TD_NONE});
  frames->since = time;
  frames->activity = TD_MIN(activity, (uint32_t)TD_thread_activity_LIMIT - 1);
}

static void
add_sample(collector *self, const td_any_event *event, const td_event_type *type) {
  uint32_t queue = td_event_u32(&event->event, type->sample.queue);
  uint32_t size = td_event_u32(&event->event, type->sample.size);
  td_lane *lane = lane_of_queue(self->timeline, queue);
  if (!lane) return;
  TD_GROW(lane->samples, lane->n_samples, lane->sample_capacity);
  lane->samples[lane->n_samples++] = (td_sample){event->event.time, size};
  lane->most = TD_MAX(lane->most, size);
}

static void
add_flag(td_flags *flags, td_flag flag) {
  TD_GROW(flags->flags, flags->n, flags->capacity);
  flags->flags[flags->n++] = flag;
}

/* The lane on which the timeline shows an event, or SIZE_MAX for none. */
static size_t
lane_of(const td_timeline *timeline, const td_any_event *event, const td_event_type *type) {
  if (type->lane == TD_LANE_stream)
    return td_stream_lane_find(timeline, event->kernel_begin.device, 0);
  return event->event.thread < timeline->catalog->n_threads ? event->event.thread : SIZE_MAX;
}

static void
take_span(collector *self, const td_any_event *event, const td_event_type *type) {
  size_t lane = lane_of(self->timeline, event, type);
  uint64_t time = event->event.time;
  uint32_t item = td_event_u32(&event->event, type->span.item), kind = type->span.kind;
  if (type->span.detail) kind += td_event_u32(&event->event, type->span.detail);
  switch (type->span.edge) {
  case TD_EDGE_begin:
    begin_frame(self, lane, time, kind, item);
    break;
  case TD_EDGE_end:
    end_frame(self, lane, time, kind, item);
    break;
  case TD_EDGE_change:
    change_activity(self, lane, time, item);
    break;
  case TD_EDGE_none:
    break;
  }
}

static void
take_flag(collector *self, const td_any_event *event, const td_event_type *type) {
  td_timeline *timeline = self->timeline;
  uint32_t about = td_event_u32(&event->event, type->flag.about);
  td_flag flag = {event->event.time, TD_NONE, event->event.thread, NULL};
  switch (type->flag.flag) {
  case TD_FLAG_mark:
    flag.text = td_line_dup(td_tape_string(self->tape, about), TD_NAME_SHOWN);
    add_flag(&timeline->marks, flag);
    break;
  case TD_FLAG_step:
    flag.text = td_format("step %" PRIu32, about);
    add_flag(&timeline->steps, flag);
    break;
  case TD_FLAG_problem:
    flag.node = about;
    add_flag(&timeline->anomalies, flag);
    break;
  case TD_FLAG_none:
    break;
  }
}

static void
take_event(collector *self, const td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  if (type->span.edge) take_span(self, event, type);
  switch (type->lane) {
  case TD_LANE_queue:
    add_sample(self, event, type);
    break;
  case TD_LANE_stream:
    td_stream_collector_take(&self->streams, event);
    break;
  case TD_LANE_flags:
    take_flag(self, event, type);
    break;
  case TD_LANE_thread:
  case TD_LANE_none:
    break;
  }
}

/* Damage in the middle of a tape leaves events that cannot be read. */
static td_status
take_all(collector *self, const td_segment *segment, td_error *error) {
  td_tape_begin_pass(self->tape, segment);
  for (uint64_t seq = segment->first; seq < segment->end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) take_event(self, event);
  }
  td_tape_end_pass(self->tape);
  return td_tape_check_readable(self->tape, error);
}

static void
finish(collector *self) {
  td_timeline *timeline = self->timeline;
  for (size_t i = 0; i < timeline->n_lanes; i++) {
    td_lane *lane = &timeline->lanes[i];
    while (self->stacks[i].n)
      close_top(self, i, timeline->duration);
    if (lane->kind == TD_LANE_thread)
      change_activity(self, i, timeline->duration, TD_thread_activity_ended);
    td_spans_seal(&lane->activity);
    for (size_t r = 0; r < lane->n_rows; r++)
      td_spans_seal(&lane->rows[r]);
    free(self->stacks[i].frames);
  }
  td_timeline_place(timeline);
  free(self->stacks);
}

td_status
td_timeline_new(td_tape *tape, const td_catalog *catalog, td_timeline **timeline, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  td_timeline *made = TD_NEW(td_timeline);
  made->catalog = catalog;
  made->duration = TD_MAX(info->duration_ns, (uint64_t)1);
  add_lanes(made);
  collector self = {made, tape, {.timeline = made}, TD_NEW_N(stack, made->n_lanes)};
  td_status status = take_all(&self, &catalog->segment, error);
  finish(&self);
  td_stream_collector_fini(&self.streams);
  if (status) {
    td_timeline_free(made);
    return status;
  }
  *timeline = made;
  return TD_OK;
}

static void
flags_fini(td_flags *flags) {
  for (size_t i = 0; i < flags->n; i++)
    free(flags->flags[i].text);
  free(flags->flags);
}

void
td_timeline_free(td_timeline *timeline) {
  if (!timeline) return;
  td_number_map_fini(&timeline->stream_lanes);
  for (size_t i = 0; i < timeline->n_lanes; i++) {
    td_lane *lane = &timeline->lanes[i];
    for (size_t r = 0; r < lane->n_rows; r++)
      td_spans_fini(&lane->rows[r]);
    td_spans_fini(&lane->activity);
    free(lane->rows);
    free(lane->samples);
    free(lane->title);
    free(lane->note);
  }
  flags_fini(&timeline->marks);
  flags_fini(&timeline->steps);
  flags_fini(&timeline->anomalies);
  for (size_t i = 0; i < timeline->n_bands; i++)
    free(timeline->bands[i].title);
  free(timeline->bands);
  free(timeline->links);
  free(timeline->lanes);
  free(timeline);
}
