/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tape as tracks of slices, counters and flows, for tools that show traces. The thread that owns
 * the tape. */
#pragma once

#include "engine/exchange/export.h"

typedef enum td_track_kind { TD_TRACK_THREAD, TD_TRACK_PLAIN, TD_TRACK_COUNTER } td_track_kind;

typedef struct td_track {
  uint32_t number; /* from 0, in the order of their announcement */
  td_track_kind kind;
  uint32_t pid, tid;          /* tid: of a thread */
  const char *process, *name; /* (borrowed) process: NULL if its name is not known */
} td_track;

/* Ids are TD_NONE and texts NULL if there are none. Texts are borrowed for the call. */
typedef struct td_track_slice {
  const char *category, *name, *label, *module;
  uint32_t node, graph_task;
} td_track_slice;

/* Of a wait for a lock, at its end: who had the lock for longest meanwhile, for how long threads
 * had it, and for how long the waiting thread had yet to wake. The text is borrowed for the call.
 */
typedef struct td_track_wait {
  const char *holder; /* "2 second", or NULL: not known */
  uint64_t held_ns, late_ns;
} td_track_wait;

/* Flows are numbers: each begins at one slice and ends at another. */
typedef struct td_track_flows {
  const uint64_t *numbers;
  uint32_t n;
} td_track_flows;

/* Gets a track before anything that is on it. Slices of a track lie inside one another. Times of
 * one track rise, but for an end: it may come later than the begins behind it, if these have other
 * times. `end` ends the innermost slice. A mark may begin a flow. */
typedef struct td_track_sink {
  void (*track)(const td_track *track, void *data);
  void (*begin)(uint32_t track, uint64_t ns, const td_track_slice *slice, td_track_flows ended,
                void *data);
  void (*end)(uint32_t track, uint64_t ns, td_track_flows begun, const td_track_wait *wait,
              void *data); /* wait: NULL, unless a wait for a lock ends */
  void (*mark)(uint32_t track, uint64_t ns, const td_track_slice *slice, td_track_flows begun,
               void *data);
  void (*count)(uint32_t track, uint64_t ns, uint64_t value, void *data);
  void *data;
} td_track_sink;

/* td_tracks_write gives a sink what a wish asks for. Threads have nodes, hooks and waits for locks.
 * Backward passes have tracks by their owner, and streams of devices have kernels. Counters have
 * the lengths of ready queues. A flow is a gradient. Results are those of td_export_dot. */
td_status td_tracks_write(td_tape *tape, const td_export_wish *wish, const td_track_sink *sink,
                          td_error *error);
