/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/segments.h"

#include "engine/base/alloc.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/segment_outline.h"
#include "engine/replay/segment_state.h"
#include "engine/replay/world.h"
#include "engine/trace/contents.h"
#include "engine/trace/segment_writer.h"

#include <stdlib.h>

/* A segment has so many more events than its keyframe. */
#define EVENTS_PER_KEYFRAME_EVENT 16

typedef struct cutting {
  td_tape *tape;
  td_segment_writer *writer;
  uint64_t least_events;
  uint64_t *moments; /* (owned) events before which the tape may be cut */
  size_t n_moments, capacity, next_moment;
  td_segment_outline outline;
  td_keyframe places;  /* threads and queues of the whole tape */
  td_keyframe lasting; /* what else lives where the last segment ends */
  td_keyframe keyframe;
  td_error *error;
} cutting;

/* ---- where to cut ---- */

/* What is under way at a moment of the tape. */
typedef struct activity {
  uint64_t n_passes, n_tasks; /* passes; tasks in queues */
} activity;

static void
change(uint64_t *n, int by) {
  if (by > 0 || *n) *n += (uint64_t)(int64_t)by;
}

/* A segment begins with a pass. So at each of its moments, a pass is there to be shown. */
static bool
is_moment(activity *now, const td_event *event, const td_event_type *type) {
  bool begins = event->kind == TD_EVENT_graph_task_begin;
  bool is_quiet = now->n_passes == 0 && now->n_tasks == 0;
  change(&now->n_tasks, type->queue.change);
  if (begins) change(&now->n_passes, 1);
  if (event->kind == TD_EVENT_graph_task_end) change(&now->n_passes, -1);
  return begins && is_quiet;
}

static bool
is_place(const td_event *event) {
  return event->kind == TD_EVENT_thread_new || event->kind == TD_EVENT_pool_thread_new ||
         event->kind == TD_EVENT_queue_new;
}

static void
look_over(cutting *self) {
  activity now = {0};
  td_segment whole = td_tape_whole(self->tape);
  td_segment_outline_begin(&self->outline, whole.end);
  td_tape_begin_pass(self->tape, &whole);
  for (uint64_t seq = 0; seq < whole.end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (!event) continue;
    const td_event_type *type = td_event_type_get(event->event.kind);
    td_segment_outline_take(&self->outline, &event->event, seq);
    if (is_place(&event->event)) td_keyframe_put(&self->places, &event->event, seq);
    if (!is_moment(&now, &event->event, type)) continue;
    TD_GROW(self->moments, self->n_moments, self->capacity);
    self->moments[self->n_moments++] = seq;
  }
  td_tape_end_pass(self->tape);
}

/* Where a segment ends: the last one is not shorter than the others. */
static uint64_t
end_of(cutting *self, uint64_t first) {
  uint64_t n_events = td_tape_info_get(self->tape)->n_events;
  uint64_t wanted =
      TD_MAX(self->least_events, EVENTS_PER_KEYFRAME_EVENT * (uint64_t)self->keyframe.n);
  while (self->next_moment < self->n_moments && self->moments[self->next_moment] < first + wanted)
    self->next_moment++;
  uint64_t end = self->next_moment < self->n_moments ? self->moments[self->next_moment] : n_events;
  return n_events - end < wanted ? n_events : end;
}

/* ---- one segment after another ---- */

/* What keyframes tell in another way, thread_state as thread_now. */
static bool
is_told_elsewhere(const td_event *event) {
  return td_is_in_table(event) || is_place(event) || event->kind == TD_EVENT_thread_state;
}

static void
apply_all(cutting *self, td_world *world, const td_segment *segment, uint32_t *last_thread) {
  td_tape_begin_pass(self->tape, segment);
  for (uint64_t seq = segment->first; seq < segment->end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    td_apply_event(world, event);
    if (!event) continue;
    td_segment_outline_name(&self->outline, &event->event, seq);
    if (!is_told_elsewhere(&event->event)) td_keyframe_add(&self->lasting, &event->event, seq);
    *last_thread = event->event.thread;
  }
  td_tape_end_pass(self->tape);
}

/* The places from *at on whose numbers lie before `end`. */
static void
put_places(cutting *self, size_t *at, size_t *byte, uint64_t end) {
  for (; *at < self->places.n && self->places.seqs[*at] < end; ++*at) {
    const td_event *event = td_event_pile_get(&self->places.events, *byte);
    td_keyframe_put(&self->keyframe, event, self->places.seqs[*at]);
    *byte += event->size;
  }
}

/* In the order of the tape. All threads and queues are there, also those to come: whoever shows a
 * segment has the same lanes as for any other. */
static void
make_keyframe(cutting *self, const td_state *state, const td_catalog *catalog, uint64_t first,
              uint32_t thread) {
  const uint64_t *seq = self->lasting.seqs;
  size_t at = 0, byte = 0;
  td_keyframe_fini(&self->keyframe);
  TD_PILE_EACH(&self->lasting.events, event) {
    put_places(self, &at, &byte, *seq);
    td_keyframe_put(&self->keyframe, event, *seq++);
  }
  put_places(self, &at, &byte, first);
  if (state) td_segment_state_put(&self->keyframe, state, catalog, first - 1, thread);
  put_places(self, &at, &byte, UINT64_MAX);
}

/* Makes the keyframe of the next segment; *is_made is false if the tape cannot be cut there. */
static td_status
pass_through(cutting *self, const td_segment *segment, bool *is_made) {
  td_catalog *catalog = NULL;
  td_world world = {0};
  uint32_t last_thread = 0;
  td_status status = td_catalog_collect(self->tape, segment, &catalog, self->error);
  if (!status) status = td_world_init(&world, catalog, self->error);
  if (!status) status = td_world_begin(&world, self->tape, segment, self->error);
  if (!status) {
    apply_all(self, &world, segment, &last_thread);
    status = td_tape_check_readable(self->tape, self->error);
  }
  *is_made = !status && td_segment_state_is_quiet(&world.state, catalog);
  if (*is_made) {
    td_keyframe_settle(&self->lasting);
    make_keyframe(self, &world.state, catalog, segment->end, last_thread);
  }
  td_world_fini(&world);
  td_catalog_free(catalog);
  return status;
}

/* The last segment is not applied: nobody needs the state at its end. */
static void
name_rest(cutting *self, uint64_t first) {
  td_segment rest = {.first = first, .end = td_tape_info_get(self->tape)->n_events};
  if (!td_segment_outline_names(&self->outline)) return;
  td_tape_begin_pass(self->tape, &rest);
  for (uint64_t seq = rest.first; seq < rest.end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) td_segment_outline_name(&self->outline, &event->event, seq);
  }
  td_tape_end_pass(self->tape);
}

static td_status
write_outline(cutting *self, uint64_t last_first) {
  name_rest(self, last_first);
  td_keyframe outline = td_segment_outline_make(&self->outline);
  td_segment_writer_outline(self->writer, &outline);
  td_keyframe_fini(&outline);
  return td_tape_check_readable(self->tape, self->error);
}

static td_status
cut(cutting *self, uint32_t *n_segments) {
  uint64_t n_events = td_tape_info_get(self->tape)->n_events;
  td_segment segment = {.number = 0, .keyframe = &self->keyframe};
  td_status status = TD_OK;
  bool is_made = true;
  make_keyframe(self, NULL, NULL, 0, 0);
  while (is_made && !status) {
    td_segment_writer_add(self->writer, segment.first, &self->keyframe);
    segment.end = end_of(self, segment.first);
    segment.number++;
    if (segment.end == n_events) break;
    status = pass_through(self, &segment, &is_made);
    segment.first = segment.end;
  }
  *n_segments = segment.number;
  return !status && segment.number > 1 ? write_outline(self, segment.first) : status;
}

static td_status
cut_tape(cutting *self, const char *path) {
  uint32_t n_segments = 0;
  look_over(self);
  td_status status = td_tape_check_readable(self->tape, self->error);
  if (!status && self->n_moments) status = cut(self, &n_segments);
  if (!status && n_segments > 1) return td_segment_writer_close(self->writer, path, self->error);
  td_segment_writer_abandon(self->writer);
  return status;
}

static void
cutting_fini(cutting *self) {
  td_tape_close(self->tape);
  td_segment_outline_fini(&self->outline);
  td_keyframe_fini(&self->places);
  td_keyframe_fini(&self->lasting);
  td_keyframe_fini(&self->keyframe);
  free(self->moments);
}

td_status
td_segments_add(const char *path, uint64_t least_events, td_error *error) {
  cutting self = {.least_events = least_events, .lasting.holds_popped = true, .error = error};
  td_status status = td_contents_add(path, error);
  if (!status) status = td_tape_open(path, &self.tape, error);
  if (status) return status;
  bool is_long = td_tape_info_get(self.tape)->n_events >= 2 * least_events;
  if (is_long) status = td_segment_writer_open(path, &self.writer, error);
  if (!status && self.writer) status = cut_tape(&self, path);
  cutting_fini(&self);
  return status;
}
