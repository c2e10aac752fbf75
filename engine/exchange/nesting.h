/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nesting: which spans of a thread lie inside which, found while they come by in order of time.
 * Foreign spans may fail to nest: one that outlasts an operator around it is cut; an evaluation
 * that outlasts another one ends that. Where begins and durations were cut to whole microseconds, a
 * span may begin or end one microsecond after the span that it was in. n spans take n log n steps,
 * whatever their times are. Belongs to one thread at a time. */
#pragma once

#include "engine/exchange/span.h"

#include <stdbool.h>

/* A backward pass that has begun and not ended: on a thread, or inside a node that called backward.
 */
typedef struct td_open_pass {
  uint32_t graph_task; /* TD_NONE: no pass is open */
  uint32_t owner;      /* the thread that called backward */
  uint32_t depth;
  uint32_t outer, outer_node; /* the pass and node it is inside of, or TD_NONE */
  uint32_t only_thread;       /* that has run its nodes, or TD_NONE: several have */
  uint32_t last_node;         /* that ran on it and is no leaf's, or TD_NONE */
  int64_t limit_ns;           /* when Python's call into the engine returns, or INT64_MAX */
  int64_t end_ns;             /* of its last evaluation so far */
} td_open_pass;

/* An open span. */
typedef struct td_frame {
  td_span span;
  bool is_node;        /* the node of the evaluation around it */
  bool node_seen;      /* an evaluation whose node has begun */
  uint32_t node;       /* an evaluation's, on the tape */
  uint32_t graph_task; /* an evaluation's ... */
  uint32_t depth;      /* ... and how deep it is */
  bool is_hook;        /* a Python function that is a hook */
  uint32_t hook_kind;
  int64_t hook_end_ns; /* an evaluation: last end of operators that a hook called; INT64_MIN */
  td_open_pass inner;  /* an evaluation: the pass inside its node */
  int64_t
      first_evaluation_end_ns; /* of the evaluations up to this frame; INT64_MAX: there is none */
  uint32_t below[TD_SPAN_STEP + 1]; /* by kind: 1 + the nearest frame below of that kind, or 0 */
} td_frame;

/* The spans that are open on a thread, outermost first. */
typedef struct td_lane {
  td_frame *frames; /* (owned) */
  uint32_t n, capacity;
} td_lane;

/* Called with the lane when its last frame has just been opened, and when it is about to close. */
typedef void (*td_frame_cb)(td_lane *lane, uint32_t thread, void *data);

typedef struct td_nesting {
  td_lane *lanes; /* (owned) [n_lanes] by thread */
  uint32_t n_lanes;
  int64_t slack_ns; /* how far beyond its end a span may hold another: the clock's step */
  uint64_t n_cut;
  td_frame_cb open, close;
  void *data;
} td_nesting;

void td_nesting_init(td_nesting *nesting, uint32_t n_threads, int64_t slack_ns, td_frame_cb open,
                     td_frame_cb close, void *data);
void td_nesting_fini(td_nesting *nesting);

/* td_nesting_add takes the next span in order of time; td_nesting_end closes all that are open. */
void td_nesting_add(td_nesting *nesting, const td_span *span);
void td_nesting_end(td_nesting *nesting);

/* td_lane_top returns the last frame, or NULL. td_lane_below returns the innermost frame of a kind
 * that is open below a frame, or NULL. td_lane_evaluation returns the innermost evaluation that is
 * open below the last frame, or NULL. Each takes constant time. */
td_frame *td_lane_top(const td_lane *lane);
td_frame *td_lane_below(const td_lane *lane, const td_frame *frame, td_span_kind kind);
td_frame *td_lane_evaluation(const td_lane *lane);
