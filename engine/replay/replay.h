/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tape and a position in it: the state after any number of events, reached by applying events,
 * undoing them, or from a checkpoint. For every position the three ways give the same bytes. One
 * thread at a time.
 *
 * Positions count the events of the tape: position p is the state after event p - 1; 0 is before
 * the first. A replay is of the whole tape, or of one segment (engine/trace/segment.h). Then its
 * catalog has what the segment names, and it stands between the segment's first and last event. */
#pragma once

#include "engine/replay/catalog_collect.h"
#include "engine/replay/state.h"

typedef struct td_replay td_replay;

/* td_replay_open opens the tape, collects its catalog and runs through it once to lay checkpoints.
 * It calls `progress`, if not NULL, now and then with a share from 0 to 1; returning false
 * cancels (TD_INVALID, "cancelled"). Damage in the middle of a tape is not an error: see
 * td_replay_contradictions. */
typedef bool (*td_replay_progress)(double share, void *data);
td_status td_replay_open(const char *path, td_replay_progress progress, void *data,
                         td_replay **replay, td_error *error);

/* td_replay_new is the same for a segment of a tape that is open. The replay takes the tape; if
 * there is none, the tape is closed. */
td_status td_replay_new(td_tape *tape, const td_segment *segment, td_replay_progress progress,
                        void *data, td_replay **replay, td_error *error);

typedef void (*td_replay_listener)(const td_any_event *event, uint64_t seq, void *data);

/* td_replay_new_along does so too, and shows each readable event of the segment to a listener, in
 * order and once. So one pass serves both. */
td_status td_replay_new_along(td_tape *tape, const td_segment *segment, td_replay_progress progress,
                              td_replay_listener listener, void *data, td_replay **replay,
                              td_error *error);
void td_replay_close(td_replay *replay);

td_tape *td_replay_tape(td_replay *replay);
const td_catalog *td_replay_catalog(const td_replay *replay);
const td_state *td_replay_state(const td_replay *replay);
uint64_t td_replay_first(const td_replay *replay); /* the first position: 0 of a whole tape */
uint64_t td_replay_end(const td_replay *replay);   /* the last: of a whole tape, its events */
uint64_t td_replay_position(const td_replay *replay);

/* td_replay_seek moves to a position in first .. end. Cost: one checkpoint's changed pages and a
 * short replay. */
td_status td_replay_seek(td_replay *replay, uint64_t position, td_error *error);

/* td_replay_forward applies the next event, td_replay_back undoes the last. TD_OUT_OF_RANGE at the
 * ends. */
td_status td_replay_forward(td_replay *replay, td_error *error);
td_status td_replay_back(td_replay *replay, td_error *error);

/* td_replay_event copies an event without moving. TD_OUT_OF_RANGE if the event is of another
 * segment, and if it names what the catalog does not have. */
td_status td_replay_event(td_replay *replay, uint64_t seq, td_any_event *out, td_error *error);

/* td_replay_find looks from `from` (exclusive) forwards or backwards for the next event that
 * matches and writes its number. TD_OUT_OF_RANGE if there is none. */
typedef bool (*td_event_predicate)(const td_any_event *event, void *data);
td_status td_replay_find(td_replay *replay, uint64_t from, bool forwards,
                         td_event_predicate matches, void *data, uint64_t *seq, td_error *error);

/* td_replay_contradictions returns what of the events up to the end of the segment contradicts the
 * state before it. The header of a state has those up to its moment. The replay does not apply
 * such an event. */
td_contradictions td_replay_contradictions(const td_replay *replay);
