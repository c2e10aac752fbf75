/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/replay.h"

#include "engine/base/alloc.h"
#include "engine/replay/apply.h"
#include "engine/replay/checkpoints.h"
#include "engine/replay/world_run.h"

#include <inttypes.h>
#include <stdlib.h>

#define CHECKPOINT_BYTES_OF_EVENT 128
#define CHECKPOINT_BYTES_MIN ((uint64_t)8 << 20)
#define CHECKPOINT_BYTES_MAX ((uint64_t)256 << 20)
#define JOURNAL_WORDS_MAX ((size_t)1 << 20)
#define DUE_EVENTS 64 /* a checkpoint may be late by so many */
#define PROGRESS_EVENTS 65536
#define NEAR_EVENTS 1024 /* undoing so many is as quick as going to a checkpoint */

struct td_replay {
  td_tape *tape;       /* (owned) */
  td_catalog *catalog; /* (owned) */
  td_world world;
  td_checkpoints *checkpoints; /* (owned) */
  td_segment segment;
  size_t *marks; /* (owned) journal length before each of the last n_marks events */
  size_t n_marks, marks_capacity;
  td_contradictions contradictions; /* up to the end of the segment */
};

/* Damage in the middle of a tape leaves events that cannot be read: they change nothing but the
 * position. */
static void
apply_next(td_replay *replay) {
  uint64_t seq = replay->world.state.header->seq;
  td_apply_event(&replay->world, td_tape_peek(replay->tape, seq));
}

static void
forget_journal(td_replay *replay) {
  replay->world.n_journal = 0;
  replay->n_marks = 0;
}

static void
step_forward(td_replay *replay) {
  if (replay->world.n_journal > JOURNAL_WORDS_MAX) forget_journal(replay);
  TD_GROW(replay->marks, replay->n_marks, replay->marks_capacity);
  replay->marks[replay->n_marks++] = replay->world.n_journal;
  apply_next(replay);
}

/* Only the last events before the position will be undone. */
static void
go_forward(td_replay *replay, uint64_t position) {
  if (position - td_replay_position(replay) > NEAR_EVENTS) {
    forget_journal(replay);
    replay->world.journalling = false;
    while (td_replay_position(replay) < position - NEAR_EVENTS)
      apply_next(replay);
    replay->world.journalling = true;
  }
  while (td_replay_position(replay) < position)
    step_forward(replay);
}

static void
step_back(td_replay *replay) {
  td_world_undo(&replay->world, replay->marks[--replay->n_marks]);
}

/* What indexing carries from event to event. */
typedef struct indexing {
  td_replay *replay;
  td_replay_progress progress; /* or NULL */
  td_replay_listener listener; /* or NULL */
  void *data;                  /* of both */
  td_error *error;
} indexing;

static bool
is_wanted(const indexing *self, uint64_t seq) {
  const td_segment *segment = &self->replay->segment;
  if (!self->progress || seq % PROGRESS_EVENTS) return true;
  double done = (double)(seq - segment->first), all = (double)(segment->end - segment->first);
  return self->progress(done / all, self->data);
}

static td_status
index_event(const td_any_event *event, uint64_t seq, void *data) {
  indexing *self = data;
  td_replay *replay = self->replay;
  if (self->listener && event) self->listener(event, seq, self->data);
  if (seq % DUE_EVENTS) return TD_OK;
  bool is_due = td_checkpoints_due(replay->checkpoints);
  if (is_due && !td_checkpoints_lay(replay->checkpoints))
    return td_error_set(self->error, TD_OUT_OF_MEMORY, "no memory for checkpoints");
  if (!is_wanted(self, seq)) return td_error_set(self->error, TD_INVALID, "cancelled");
  return TD_OK;
}

/* A small tape may not take much memory, whatever it does to the state. */
static size_t
checkpoint_bytes(uint64_t n_events) {
  uint64_t n_bytes = TD_MIN(n_events, (uint64_t)CHECKPOINT_BYTES_MAX) * CHECKPOINT_BYTES_OF_EVENT;
  return TD_MIN(TD_MAX(n_bytes, CHECKPOINT_BYTES_MIN), CHECKPOINT_BYTES_MAX);
}

/* Makes world and checkpoints in a pass over the segment. */
static td_status
index_segment(indexing *self, const td_catalog *catalog, td_collecting *collecting) {
  td_replay *replay = self->replay;
  const td_segment *segment = &replay->segment;
  td_world *world = &replay->world;
  td_status status = td_world_init(world, catalog, self->error);
  if (!status) status = td_world_begin(world, replay->tape, segment, collecting, self->error);
  if (status) return status;
  replay->checkpoints =
      td_checkpoints_new(world, 0, checkpoint_bytes(segment->end - segment->first));
  if (!replay->checkpoints)
    return td_error_set(self->error, TD_OUT_OF_MEMORY, "no memory for checkpoints");
  return td_world_run(world, replay->tape, segment, collecting, index_event, self, self->error);
}

/* The catalog learned too late what orders tasks. */
static td_status
index_again(indexing *self) {
  td_replay *replay = self->replay;
  td_checkpoints_free(replay->checkpoints);
  replay->checkpoints = NULL;
  td_world_fini(&replay->world);
  self->listener = NULL;
  return index_segment(self, replay->catalog, NULL);
}

static td_status
open_parts(indexing *self) {
  td_replay *replay = self->replay;
  td_collecting *collecting;
  td_status status = td_collecting_new(replay->tape, &replay->segment, &collecting, self->error);
  if (status) return status;
  status = index_segment(self, td_collecting_catalog(collecting), collecting);
  bool is_late = td_collecting_is_late(collecting);
  status = td_collecting_end(collecting, status, &replay->catalog);
  if (!status && is_late) status = index_again(self);
  if (status) return status;
  replay->contradictions = replay->world.state.header->contradictions;
  td_checkpoints_restore(replay->checkpoints, replay->segment.first);
  replay->world.journalling = true;
  return TD_OK;
}

td_status
td_replay_new(td_tape *tape, const td_segment *segment, td_replay_progress progress, void *data,
              td_replay **replay, td_error *error) {
  return td_replay_new_along(tape, segment, progress, NULL, data, replay, error);
}

td_status
td_replay_new_along(td_tape *tape, const td_segment *segment, td_replay_progress progress,
                    td_replay_listener listener, void *data, td_replay **replay, td_error *error) {
  td_replay *made = TD_NEW(td_replay);
  made->tape = tape;
  made->segment = *segment;
  td_status status = open_parts(&(indexing){made, progress, listener, data, error});
  if (status == TD_OK)
    *replay = made;
  else
    td_replay_close(made);
  return status;
}

td_status
td_replay_open(const char *path, td_replay_progress progress, void *data, td_replay **replay,
               td_error *error) {
  td_tape *tape;
  td_status status = td_tape_open(path, &tape, error);
  if (status != TD_OK) return status;
  td_segment whole = td_tape_whole(tape);
  return td_replay_new(tape, &whole, progress, data, replay, error);
}

void
td_replay_close(td_replay *replay) {
  if (!replay) return;
  td_checkpoints_free(replay->checkpoints);
  td_world_fini(&replay->world);
  td_catalog_free(replay->catalog);
  td_tape_close(replay->tape);
  free(replay->marks);
  free(replay);
}

td_tape *
td_replay_tape(td_replay *replay) {
  return replay->tape;
}

const td_catalog *
td_replay_catalog(const td_replay *replay) {
  return replay->catalog;
}

const td_state *
td_replay_state(const td_replay *replay) {
  return &replay->world.state;
}

uint64_t
td_replay_first(const td_replay *replay) {
  return replay->segment.first;
}

uint64_t
td_replay_end(const td_replay *replay) {
  return replay->segment.end;
}

uint64_t
td_replay_position(const td_replay *replay) {
  return replay->world.state.header->seq;
}

static bool
can_undo_to(const td_replay *replay, uint64_t position, uint64_t checkpoint) {
  uint64_t now = td_replay_position(replay);
  if (position > now || now - position > replay->n_marks) return false;
  return now - position <= TD_MAX(position - checkpoint, NEAR_EVENTS);
}

td_status
td_replay_seek(td_replay *replay, uint64_t position, td_error *error) {
  const td_segment *segment = &replay->segment;
  if (position < segment->first || position > segment->end)
    return td_error_set(error, TD_OUT_OF_RANGE,
                        "position %" PRIu64 " is not in %" PRIu64 " to %" PRIu64, position,
                        segment->first, segment->end);
  uint64_t checkpoint = td_checkpoints_before(replay->checkpoints, position);
  if (can_undo_to(replay, position, checkpoint)) {
    while (td_replay_position(replay) > position)
      step_back(replay);
    return TD_OK;
  }
  uint64_t now = td_replay_position(replay);
  if (now > position || now < checkpoint) {
    td_checkpoints_restore(replay->checkpoints, checkpoint);
    forget_journal(replay);
  }
  go_forward(replay, position);
  return td_tape_check_readable(replay->tape, error);
}

td_status
td_replay_forward(td_replay *replay, td_error *error) {
  if (td_replay_position(replay) == replay->segment.end)
    return td_error_set(error, TD_OUT_OF_RANGE, "the tape is at its end");
  step_forward(replay);
  return td_tape_check_readable(replay->tape, error);
}

td_status
td_replay_back(td_replay *replay, td_error *error) {
  uint64_t position = td_replay_position(replay);
  if (position == replay->segment.first)
    return td_error_set(error, TD_OUT_OF_RANGE, "the tape is at its start");
  if (replay->n_marks == 0) return td_replay_seek(replay, position - 1, error);
  step_back(replay);
  return TD_OK;
}

td_status
td_replay_event(td_replay *replay, uint64_t seq, td_any_event *out, td_error *error) {
  return td_catalog_event(replay->catalog, replay->tape, seq, out, error);
}

td_status
td_replay_find(td_replay *replay, uint64_t from, bool forwards, td_event_predicate matches,
               void *data, uint64_t *seq, td_error *error) {
  const td_segment *segment = &replay->segment;
  uint64_t at = forwards ? TD_MAX(from + 1, segment->first) : TD_MIN(from, segment->end);
  for (; forwards ? at < segment->end : at > segment->first; at += forwards ? 1 : -1) {
    uint64_t candidate = forwards ? at : at - 1;
    td_any_event event;
    if (td_tape_get(replay->tape, candidate, &event, NULL) != TD_OK || !matches(&event, data))
      continue;
    *seq = candidate;
    return TD_OK;
  }
  return td_error_set(error, TD_OUT_OF_RANGE, "no such event %s event %" PRIu64,
                      forwards ? "after" : "before", from);
}

td_contradictions
td_replay_contradictions(const td_replay *replay) {
  return replay->contradictions;
}
