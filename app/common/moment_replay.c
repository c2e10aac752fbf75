/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/moment_replay.h"

#include "app/common/exit.h"
#include "engine/profile/why/conflicts.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/causes.h"

/* A moment that was asked for on a tape, and whether the tape has it. */
typedef struct search {
  const td_moment_options *options;
  uint64_t *seq;
  char **how;
  bool is_found;
} search;

static td_status
find_in_outline(search *self, td_tape *tape, td_error *error) {
  td_segment outline = td_tape_outline(tape);
  td_catalog *catalog;
  td_status status = td_catalog_collect(tape, &outline, &catalog, error);
  if (status) return status;
  self->is_found = td_moment_find(tape, catalog, self->options, self->seq, self->how);
  td_catalog_free(catalog);
  return TD_OK;
}

static td_status
replay_segment(search *self, td_tape *tape, td_replay **replay, td_error *error) {
  td_status status = find_in_outline(self, tape, error);
  if (status || !self->is_found) {
    td_tape_close(tape);
    return status;
  }
  td_segment segment = td_tape_segment_at(tape, *self->seq);
  return td_replay_new(tape, &segment, NULL, NULL, replay, error);
}

static td_status
replay_whole(search *self, const char *path, td_replay **replay, td_error *error) {
  td_status status = td_replay_open(path, NULL, NULL, replay, error);
  if (status) return status;
  td_tape *tape = td_replay_tape(*replay);
  self->is_found =
      td_moment_find(tape, td_replay_catalog(*replay), self->options, self->seq, self->how);
  return TD_OK;
}

/* Also a tape whose keyframes are damaged has all events. */
static td_status
replay_best(search *self, const char *path, bool is_whole, td_replay **replay, td_error *error) {
  td_tape *tape;
  td_status status = td_tape_open(path, &tape, error);
  if (status) return status;
  if (is_whole || td_tape_n_segments(tape) == 0) {
    td_tape_close(tape);
    return replay_whole(self, path, replay, error);
  }
  status = replay_segment(self, tape, replay, error);
  if (status != TD_DAMAGED) return status;
  td_command_say_whole(path, error);
  return replay_whole(self, path, replay, error);
}

bool
td_moment_replay(const char *path, const td_moment_options *options, bool is_whole,
                 td_replay **replay, uint64_t *seq, char **how) {
  search self = {options, seq, how, false};
  td_error error = {0};
  td_status status = replay_best(&self, path, is_whole, replay, &error);
  if (!status && self.is_found) status = td_replay_seek(*replay, *seq + 1, &error);
  if (status) td_command_file_error(path, &error);
  return !status && self.is_found;
}

bool
td_moment_replay_again(const char *path, const td_moment_options *options, td_replay **replay,
                       uint64_t *seq, char **how) {
  td_replay_close(*replay);
  *replay = NULL;
  g_clear_pointer(how, g_free);
  return td_moment_replay(path, options, true, replay, seq, how);
}

static bool
is_segment(const td_segment *segment) {
  return segment->number != TD_SEGMENT_WHOLE;
}

bool
td_moment_tells_pass(td_replay *replay, uint32_t graph_task) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_segment *segment = &catalog->segment;
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, graph_task);
  uint64_t n_events = td_tape_info_get(td_replay_tape(replay))->n_events;
  if (!is_segment(segment)) return true;
  bool goes_on = segment->end < n_events && pass && pass->end_seq >= segment->end;
  return pass && pass->begin_seq >= segment->first && !goes_on;
}

/* An earlier value that is not finite, or a write, may lie before the segment. */
static bool
has_all_before(td_tape *tape, const td_catalog *catalog, const td_any_event *event) {
  td_segment outline = td_tape_outline(tape);
  td_event_tensor_write write;
  td_catalog *problems;
  if (event->event.kind == TD_EVENT_version_conflict)
    return td_conflict_find_write(catalog, tape, &event->version_conflict, &write);
  if (event->event.kind != TD_EVENT_anomaly) return true;
  if (td_catalog_collect(tape, &outline, &problems, NULL)) return false;
  bool is_possible =
      td_cause_is_possible(problems, tape, 0, catalog->segment.first, &event->anomaly);
  td_catalog_free(problems);
  return !is_possible;
}

bool
td_moment_tells_why(td_replay *replay, uint64_t seq) {
  const td_catalog *catalog = td_replay_catalog(replay);
  td_any_event event;
  if (!is_segment(&catalog->segment) || td_replay_event(replay, seq, &event, NULL)) return true;
  return has_all_before(td_replay_tape(replay), catalog, &event);
}
