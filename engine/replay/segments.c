/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/segments.h"

#include "engine/base/alloc.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/late_names.h"
#include "engine/replay/segment_outline.h"
#include "engine/replay/segment_state.h"
#include "engine/replay/world_run.h"
#include "engine/trace/contents.h"
#include "engine/trace/segment_writer.h"

#include <stdlib.h>

/* A segment has so many more events than its keyframe. */
#define EVENTS_PER_KEYFRAME_EVENT 16

typedef struct cutting {
  td_tape *tape;
  td_segment_writer *writer;
  uint64_t least_events;
  uint64_t n_expected, n_looked; /* events, for what follows */
  bool looks;
  td_cut_moments moments;
  td_segment_outline outline;
  td_late_names late_names;
  td_keyframe places;  /* what names the lanes of the whole tape */
  td_keyframe lasting; /* what else lives where the last segment ends */
  td_keyframe held;    /* node_free of nodes that are not let go of yet */
  td_keyframe keyframe;
  td_error *error;
} cutting;

/* ---- where to cut ---- */

static bool
is_place(const td_event *event) {
  return event->kind == TD_EVENT_thread_new || event->kind == TD_EVENT_pool_thread_new ||
         event->kind == TD_EVENT_queue_new || event->kind == TD_EVENT_process_new ||
         event->kind == TD_EVENT_device_new;
}

static void
look_at(cutting *self, const td_event *event, uint64_t seq) {
  td_segment_outline_take(&self->outline, event, seq);
  if (is_place(event)) td_keyframe_put(&self->places, event, seq);
  bool may_cut = td_cut_moments_take(&self->moments, event, seq);
  td_late_names_take(&self->late_names, event, seq, may_cut);
  self->n_looked++;
}

static bool
is_long(const cutting *self, uint64_t n_events) {
  return n_events >= 2 * self->least_events;
}

/* While the contents are added: a decoding less. */
static void
begin_cb(uint64_t n_events, void *data) {
  cutting *self = data;
  self->looks = is_long(self, n_events);
  if (self->looks) td_segment_outline_begin(&self->outline, n_events);
  self->n_expected = n_events;
}

static void
run_cb(const td_merge_run *run, uint64_t seq, void *data) {
  cutting *self = data;
  for (uint32_t i = 0; self->looks && i < run->n; i++)
    look_at(self, td_decoded_get(run->events, run->first + i), seq + i);
}

static void
begin_look(cutting *self) {
  td_segment_outline_fini(&self->outline);
  td_keyframe_fini(&self->places);
  td_cut_moments_fini(&self->moments);
  td_late_names_fini(&self->late_names);
  self->moments.least_events = TD_MAX(self->least_events, 1);
  self->n_looked = 0;
}

/* If nobody has looked yet, or at another number of events. */
static void
look_over(cutting *self) {
  td_segment whole = td_tape_whole(self->tape);
  if (self->n_looked == whole.end && self->n_expected == whole.end) return;
  begin_look(self);
  td_segment_outline_begin(&self->outline, whole.end);
  td_tape_begin_pass(self->tape, &whole);
  for (uint64_t seq = 0; seq < whole.end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) look_at(self, &event->event, seq);
  }
  td_tape_end_pass(self->tape);
}

/* Where a segment ends: the last one is not shorter than the others. */
static uint64_t
end_of(cutting *self, uint64_t first) {
  uint64_t n_events = td_tape_info_get(self->tape)->n_events;
  uint64_t wanted =
      TD_MAX(self->least_events, EVENTS_PER_KEYFRAME_EVENT * (uint64_t)self->keyframe.n);
  uint64_t end = TD_MIN(td_cut_moments_next(&self->moments, first, wanted), n_events);
  return n_events - end < wanted ? n_events : end;
}

/* ---- one segment after another ---- */

/* What keyframes tell in another way, thread_state as thread_now. */
static bool
is_told_elsewhere(const td_event *event) {
  return td_is_in_table(event) || is_place(event) || event->kind == TD_EVENT_thread_state;
}

/* A node that was freed stays while a pass goes on that it took part in: sentences name it. */
static bool
is_held(const td_world *world, const td_event *event) {
  if (event->kind != TD_EVENT_node_free) return false;
  uint32_t node = ((const td_event_node_free *)event)->node;
  const td_catalog *catalog = world->state.catalog;
  if (node == TD_NONE || !td_catalog_has_node(catalog, node)) return false;
  const td_node_now *now = td_state_node(&world->state, node);
  if (now->task != TD_NONE) return true;
  uint32_t pass = now->graph_task;
  uint32_t row = pass == TD_NONE ? TD_NO_ROW : td_catalog_graph_task_row(catalog, pass);
  return row != TD_NO_ROW && td_state_graph_task_row(&world->state, row)->status == TD_PASS_RUNNING;
}

static void
keep(cutting *self, const td_world *world, const td_event *event, uint64_t seq) {
  if (is_told_elsewhere(event)) return;
  if (is_held(world, event))
    td_keyframe_put(&self->held, event, seq);
  else
    td_keyframe_add(&self->lasting, event, seq);
}

/* Frees the nodes whose passes are over. */
static void
let_go(cutting *self, const td_world *world) {
  td_keyframe held = self->held;
  const uint64_t *seq = held.seqs;
  self->held = (td_keyframe){0};
  TD_PILE_EACH(&held.events, event) keep(self, world, event, *seq++);
  td_keyframe_fini(&held);
}

/* A segment that is applied. */
typedef struct passage {
  cutting *cutting;
  td_world world;
  uint32_t last_thread;
} passage;

static td_status
pass_event(const td_any_event *event, uint64_t seq, void *data) {
  passage *self = data;
  if (!event) return TD_OK;
  td_segment_outline_explain(&self->cutting->outline, &event->event, seq);
  keep(self->cutting, &self->world, &event->event, seq);
  self->last_thread = event->event.thread;
  return TD_OK;
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

/* In the order of the tape. All threads, queues, devices and processes are there, also those to
 * come: whoever shows a segment has the same lanes as for any other. */
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

static td_status
apply_segment(passage *self, const td_segment *segment, const td_catalog *catalog,
              td_collecting *collecting) {
  td_tape *tape = self->cutting->tape;
  td_error *error = self->cutting->error;
  td_status status = td_world_init(&self->world, catalog, error);
  if (!status) status = td_world_begin(&self->world, tape, segment, collecting, error);
  if (status) return status;
  return td_world_run(&self->world, tape, segment, collecting, collecting ? pass_event : NULL, self,
                      error);
}

/* As td_replay_open does: Note [One pass] in world_run.h. */
static td_status
collect_segment(passage *self, const td_segment *segment, td_catalog **catalog) {
  td_collecting *collecting;
  td_status status =
      td_collecting_new(self->cutting->tape, segment, &collecting, self->cutting->error);
  if (status) return status;
  status = apply_segment(self, segment, td_collecting_catalog(collecting), collecting);
  bool is_late = td_collecting_is_late(collecting);
  status = td_collecting_end(collecting, status, catalog);
  if (status || !is_late) return status;
  td_world_fini(&self->world);
  return apply_segment(self, segment, *catalog, NULL);
}

/* Makes the keyframe of the next segment. */
static td_status
pass_through(cutting *self, const td_segment *segment) {
  td_catalog *catalog = NULL;
  passage passage = {.cutting = self};
  td_status status = collect_segment(&passage, segment, &catalog);
  if (!status) {
    td_cause_list_search(&self->outline.causes, catalog);
    let_go(self, &passage.world);
    td_keyframe_settle(&self->lasting);
    make_keyframe(self, &passage.world.state, catalog, segment->end, passage.last_thread);
  }
  td_world_fini(&passage.world);
  td_catalog_free(catalog);
  return status;
}

/* The last segment is not applied: nobody needs the state at its end. */
static void
explain_rest(cutting *self, const td_segment *rest) {
  if (!td_segment_outline_has_problems(&self->outline)) return;
  td_tape_begin_pass(self->tape, rest);
  for (uint64_t seq = rest->first; seq < rest->end; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) td_segment_outline_explain(&self->outline, &event->event, seq);
  }
  td_tape_end_pass(self->tape);
}

/* Its graph is needed if it has a NaN. */
static td_status
find_last_causes(cutting *self, const td_segment *rest) {
  td_catalog *catalog;
  if (!td_cause_list_concerns(&self->outline.causes, rest->first)) return TD_OK;
  td_status status = td_catalog_collect(self->tape, rest, &catalog, self->error);
  if (status) return status;
  td_cause_list_search(&self->outline.causes, catalog);
  td_catalog_free(catalog);
  return TD_OK;
}

static td_status
write_outline(cutting *self, const td_segment *last) {
  explain_rest(self, last);
  td_status status = find_last_causes(self, last);
  if (status) return status;
  td_keyframe outline = td_segment_outline_make(&self->outline);
  td_segment_writer_outline(self->writer, &outline);
  td_keyframe_fini(&outline);
  return td_tape_check_readable(self->tape, self->error);
}

/* Numbers rise in a keyframe: the names stand between the places to come. */
static void
add_late_names(cutting *self, uint64_t end) {
  td_keyframe names = {0};
  td_late_names_put(&self->late_names, &names, end);
  td_keyframe named = td_keyframe_merge(&self->keyframe, &names);
  td_keyframe_fini(&self->keyframe);
  td_keyframe_fini(&names);
  self->keyframe = named;
}

static td_status
cut(cutting *self, uint32_t *n_segments) {
  uint64_t n_events = td_tape_info_get(self->tape)->n_events;
  td_segment segment = {.number = 0, .keyframe = &self->keyframe};
  td_status status = TD_OK;
  make_keyframe(self, NULL, NULL, 0, 0);
  while (!status) {
    segment.end = end_of(self, segment.first);
    add_late_names(self, segment.end);
    td_segment_writer_add(self->writer, segment.first, &self->keyframe);
    segment.number++;
    if (segment.end == n_events) break;
    status = pass_through(self, &segment);
    segment.first = segment.end;
  }
  *n_segments = segment.number;
  return !status && segment.number > 1 ? write_outline(self, &segment) : status;
}

static td_status
cut_tape(cutting *self, const char *path) {
  uint32_t n_segments = 0;
  look_over(self);
  td_status status = td_tape_check_readable(self->tape, self->error);
  if (!status) status = cut(self, &n_segments);
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
  td_keyframe_fini(&self->held);
  td_cut_moments_fini(&self->moments);
  td_late_names_fini(&self->late_names);
}

td_status
td_segments_add(const char *path, uint64_t least_events, td_error *error) {
  cutting self = {.least_events = least_events,
                  .moments.least_events = TD_MAX(least_events, 1),
                  .lasting.holds_popped = true,
                  .error = error};
  td_contents_listener listener = {begin_cb, run_cb, &self};
  td_status status = td_contents_add_along(path, &listener, error);
  if (!status) status = td_tape_open(path, &self.tape, error);
  bool cuts = !status && is_long(&self, td_tape_info_get(self.tape)->n_events);
  if (cuts) status = td_segment_writer_open(path, &self.writer, error);
  if (!status && self.writer) status = cut_tape(&self, path);
  cutting_fini(&self);
  return status;
}
