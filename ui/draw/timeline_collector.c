/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/span_stacks.h"
#include "ui/draw/timeline.h"
#include "ui/draw/timeline_picture.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <string.h>

/* A shorter pause is no person's. */
#define LEAST_PAUSE_NS UINT64_C(1000000)

struct td_timeline_collector {
  td_timeline *timeline; /* (owned) without lanes until the end */
  td_tape *tape;         /* (borrowed) */
  td_lanes threads, queues;
  td_stream_collector streams;
  uint64_t last_ns;                      /* the last event */
  td_span_stacks on_threads, on_streams; /* by lane */
  td_held_waits waits;
  td_thread_waits other_waits;
};

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
  td_lane *lane = add_lane(
      timeline, TD_LANE_thread, i, thread->device,
      *thread->name ? td_dup_string(thread->name) : td_format(td_translate("thread %u"), i),
      thread->in_pool ? td_format(td_translate("%s, thread pool"), device) : td_dup_string(device));
  lane->process = thread->process;
}

static void
add_stream_lane(td_timeline *timeline, int32_t device, int32_t stream) {
  if (td_stream_lane_find(timeline, device, stream) != SIZE_MAX) return;
  td_lane *lane = add_lane(timeline, TD_LANE_stream, (uint32_t)device, device,
                           td_dup_string(td_catalog_device_label(timeline->catalog, device)),
                           stream ? td_format(td_translate("stream %d"), (int)stream)
                                  : td_dup_string(td_translate("default stream")));
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
    td_lane *lane = add_lane(timeline, TD_LANE_queue, i, catalog->queues[i].device,
                             td_format(td_translate("%s queue"),
                                       td_catalog_device_label(catalog, catalog->queues[i].device)),
                             td_dup_string(td_translate("length")));
    lane->process = td_catalog_process_of_queue(catalog, i);
  }
}

static uint32_t
item_of(td_timeline_collector *self, const td_open_span *span) {
  if (span->kind != TD_SPAN_CALLBACK && span->kind != TD_SPAN_COLLECTIVE) return span->item;
  const char *owner = td_tape_string(self->tape, span->about);
  return td_text_table_put(&self->timeline->callbacks, owner, TD_NAME_SHOWN);
}

static void
add_span(td_timeline_collector *self, td_lane *lane, uint32_t depth, const td_open_span *span,
         uint64_t end_ns) {
  bool is_activity = span->kind == TD_SPAN_ACTIVITY;
  while (!is_activity && lane->n_rows <= depth) {
    TD_GROW(lane->rows, lane->n_rows, lane->row_capacity);
    lane->rows[lane->n_rows++] = (td_spans){0};
  }
  if (is_activity)
    td_spans_push(&lane->activity, (td_span){span->begin_ns, end_ns, span->item, TD_NONE});
  else
    td_spans_push(&lane->rows[depth],
                  (td_span){span->begin_ns, end_ns, span->kind, item_of(self, span)});
}

static void
thread_span_cb(size_t at, uint32_t depth, const td_open_span *span, uint64_t end_ns, void *data) {
  td_timeline_collector *self = data;
  add_span(self, td_lanes_obtain(&self->threads, at), depth, span, end_ns);
}

static void
stream_span_cb(size_t at, uint32_t depth, const td_open_span *span, uint64_t end_ns, void *data) {
  td_timeline_collector *self = data;
  add_span(self, &self->streams.lanes.lanes[at], depth, span, end_ns);
}

static void
add_sample(td_timeline_collector *self, const td_any_event *event, const td_event_type *type) {
  uint32_t queue = td_event_u32(&event->event, type->sample.queue);
  uint32_t size = td_event_u32(&event->event, type->sample.size);
  if (queue == TD_NONE) return;
  td_lane *lane = td_lanes_obtain(&self->queues, queue);
  TD_GROW(lane->samples, lane->n_samples, lane->sample_capacity);
  lane->samples[lane->n_samples++] = (td_sample){event->event.time, size};
  lane->most = TD_MAX(lane->most, size);
}

static void
add_flag(td_flags *flags, td_flag flag) {
  TD_GROW(flags->flags, flags->n, flags->capacity);
  flags->flags[flags->n++] = flag;
}

static void
take_span(td_timeline_collector *self, const td_any_event *event, const td_event_type *type,
          uint64_t seq) {
  if (type->lane != TD_LANE_stream) {
    td_span_stacks_take(&self->on_threads, event->event.thread, seq, event);
    return;
  }
  size_t lane = td_stream_collector_lane(&self->streams, event->kernel_begin.device, 0);
  if (lane != SIZE_MAX) td_span_stacks_take(&self->on_streams, lane, seq, event);
}

/* A person kept one thread waiting. What other threads did meanwhile stays on the axis. */
static void
take_pause(td_timeline_collector *self, const td_event_paused *event) {
  td_timeline *timeline = self->timeline;
  uint64_t end = event->event.time, begin = end - TD_MIN(event->waited, end);
  begin = TD_MAX(begin, self->last_ns);
  if (end - begin < LEAST_PAUSE_NS) return;
  td_time_cuts_add(&timeline->cuts, (double)begin, (double)end);
  char *length = td_format_ns((double)(end - begin));
  add_flag(&timeline->pauses, (td_flag){end, TD_NONE, event->event.thread,
                                        td_format(td_translate("paused %s"), length)});
  free(length);
}

static void
take_flag(td_timeline_collector *self, const td_any_event *event, const td_event_type *type) {
  td_timeline *timeline = self->timeline;
  uint32_t about = td_event_u32(&event->event, type->flag.about);
  td_flag flag = {event->event.time, TD_NONE, event->event.thread, NULL};
  if (event->event.kind == TD_EVENT_paused) take_pause(self, &event->paused);
  switch (type->flag.flag) {
  case TD_FLAG_mark:
    flag.text = td_line_dup(td_tape_string(self->tape, about), TD_NAME_SHOWN);
    add_flag(&timeline->marks, flag);
    break;
  case TD_FLAG_step:
    flag.text = td_format(td_translate("step %u"), about);
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

void
td_timeline_collector_take(td_timeline_collector *self, const td_any_event *event, uint64_t seq) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  if (type->span.edge) take_span(self, event, type, seq);
  td_held_waits_take(&self->waits, event, seq, event->event.time);
  td_thread_waits_take(&self->other_waits, event, seq);
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
  self->last_ns = event->event.time;
}

td_timeline_collector *
td_timeline_collector_new(td_tape *tape) {
  td_timeline_collector *self = TD_NEW(td_timeline_collector);
  self->tape = tape;
  self->timeline = TD_NEW(td_timeline);
  self->timeline->duration = TD_MAX(td_tape_info_get(tape)->duration_ns, (uint64_t)1);
  self->streams.timeline = self->timeline;
  td_timeline_watch_waits(self->timeline, &self->waits, &self->other_waits);
  self->on_threads = (td_span_stacks){.listener = thread_span_cb, .data = self};
  self->on_streams = (td_span_stacks){.listener = stream_span_cb, .data = self};
  return self;
}

/* Some kernels are over only after the last event. */
static void
find_duration(td_timeline_collector *self) {
  td_timeline *timeline = self->timeline;
  const td_lanes *streams = &self->streams.lanes;
  for (size_t i = 0; i < streams->n; i++) {
    const td_lane *lane = &streams->lanes[i];
    if (td_stream_lane_find(timeline, lane->device, lane->stream) != SIZE_MAX)
      timeline->duration = TD_MAX(timeline->duration, lane->end);
  }
}

static void
finish_spans(td_timeline_collector *self) {
  const td_timeline *timeline = self->timeline;
  td_span_stacks_finish(&self->on_threads, timeline->catalog->n_threads, timeline->duration);
  td_span_stacks_finish(&self->on_streams, 0, timeline->duration);
}

static void
seal(td_lane *lane) {
  td_spans_seal(&lane->activity);
  for (size_t r = 0; r < lane->n_rows; r++)
    td_spans_seal(&lane->rows[r]);
}

static void
move_contents(td_lane *to, td_lane *from) {
  to->activity = from->activity;
  to->rows = from->rows;
  to->n_rows = from->n_rows;
  to->row_capacity = from->row_capacity;
  to->samples = from->samples;
  to->n_samples = from->n_samples;
  to->sample_capacity = from->sample_capacity;
  to->peaks = td_peaks_new(to->samples, to->n_samples);
  to->most = from->most;
  to->end = from->end;
  *from = (td_lane){.device = from->device, .stream = from->stream};
  seal(to);
}

/* The catalog names threads and queues by id, and each that an event names. */
static void
fill_lanes(td_timeline_collector *self) {
  td_timeline *timeline = self->timeline;
  td_lanes *streams = &self->streams.lanes;
  for (size_t i = 0; i < TD_MIN(self->threads.n, (size_t)timeline->catalog->n_threads); i++)
    move_contents(&timeline->lanes[i], &self->threads.lanes[i]);
  for (size_t i = 0; i < streams->n; i++) {
    td_lane *from = &streams->lanes[i];
    size_t to = td_stream_lane_find(timeline, from->device, from->stream);
    if (to != SIZE_MAX) move_contents(&timeline->lanes[to], from);
  }
  td_lane *queues = timeline->lanes + timeline->n_lanes - timeline->catalog->n_queues;
  for (size_t i = 0; i < TD_MIN(self->queues.n, (size_t)timeline->catalog->n_queues); i++)
    move_contents(&queues[i], &self->queues.lanes[i]);
}

/* Links have the numbers of the collector's lanes. */
static void
renumber_links(td_timeline_collector *self) {
  td_timeline *timeline = self->timeline;
  const td_lane *streams = self->streams.lanes.lanes;
  size_t n = 0;
  for (size_t i = 0; i < timeline->n_links; i++) {
    td_wait_link link = timeline->links[i];
    const td_lane *from = &streams[link.from_lane], *to = &streams[link.to_lane];
    size_t from_lane = td_stream_lane_find(timeline, from->device, from->stream);
    size_t to_lane = td_stream_lane_find(timeline, to->device, to->stream);
    if (from_lane == SIZE_MAX || to_lane == SIZE_MAX) continue;
    timeline->links[n++] =
        (td_wait_link){(uint32_t)from_lane, (uint32_t)to_lane, link.from, link.to};
  }
  timeline->n_links = n;
}

td_timeline *
td_timeline_collector_end(td_timeline_collector *self, const td_catalog *catalog) {
  td_timeline *timeline = self->timeline;
  timeline->catalog = catalog;
  add_lanes(timeline);
  find_duration(self);
  finish_spans(self);
  fill_lanes(self);
  renumber_links(self);
  td_timeline_place(timeline);
  self->timeline = NULL;
  td_timeline_collector_free(self);
  return timeline;
}

td_status
td_timeline_new(td_tape *tape, const td_catalog *catalog, td_timeline **timeline, td_error *error) {
  td_timeline_collector *collector = td_timeline_collector_new(tape);
  const td_segment *segment = &catalog->segment;
  td_tape_begin_pass(tape, segment);
  for (uint64_t seq = segment->first; seq < segment->end; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (event) td_timeline_collector_take(collector, event, seq);
  }
  td_tape_end_pass(tape);
  td_status status = td_tape_check_readable(tape, error);
  if (status)
    td_timeline_collector_free(collector);
  else
    *timeline = td_timeline_collector_end(collector, catalog);
  return status;
}

static void
flags_fini(td_flags *flags) {
  for (size_t i = 0; i < flags->n; i++)
    free(flags->flags[i].text);
  free(flags->flags);
}

void
td_timeline_collector_free(td_timeline_collector *self) {
  if (!self) return;
  td_lanes_fini(&self->threads);
  td_lanes_fini(&self->queues);
  td_lanes_fini(&self->streams.lanes);
  td_number_map_fini(&self->streams.numbers);
  free(self->streams.recorded);
  td_held_waits_fini(&self->waits);
  td_thread_waits_fini(&self->other_waits);
  td_span_stacks_fini(&self->on_threads);
  td_span_stacks_fini(&self->on_streams);
  td_timeline_free(self->timeline);
  free(self);
}

void
td_timeline_free(td_timeline *timeline) {
  if (!timeline) return;
  td_number_map_fini(&timeline->stream_lanes);
  for (size_t i = 0; i < timeline->n_lanes; i++)
    td_lane_fini(&timeline->lanes[i]);
  flags_fini(&timeline->marks);
  flags_fini(&timeline->steps);
  flags_fini(&timeline->anomalies);
  flags_fini(&timeline->pauses);
  td_time_cuts_fini(&timeline->cuts);
  td_text_table_fini(&timeline->callbacks);
  td_timeline_forget_bands(timeline);
  free(timeline->links);
  td_timeline_forget_waits(timeline);
  free(timeline->lanes);
  free(timeline);
}
