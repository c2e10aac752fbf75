/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A coarse summary of a whole tape for its outline. The tape is divided into at most
 * TD_CATALOG_STRETCHES stretches of equally many events. Each becomes an event of the kind
 * `stretch_now`. Private to engine/replay. One thread.
 *
 * Why not of equal time? The slider counts events, and so do parts. A stretch always has events,
 * also where a program slept for hours. The time of each stretch is known, so a picture over time
 * can be made of it. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/trace/keyframe.h"

typedef struct td_outline_stretches {
  uint64_t n_events; /* of the tape */
  uint32_t n, n_done;
  td_event last;          /* the event before */
  td_number_map depths;   /* by thread: how many nodes run inside each other */
  uint64_t n_busy;        /* threads on which a node runs */
  uint64_t busy_ns, most; /* of the stretch under way */
  td_keyframe events;
} td_outline_stretches;

/* td_outline_stretches_begin gets the number of events of the tape. td_outline_stretches_take takes
 * each of them, in order. `length` is how long the event's queue is before it or after, whichever
 * is more. td_outline_stretches_end completes the list. */
void td_outline_stretches_begin(td_outline_stretches *self, uint64_t n_events);
void td_outline_stretches_take(td_outline_stretches *self, const td_event *event, uint64_t seq,
                               uint64_t length);
void td_outline_stretches_end(td_outline_stretches *self);
void td_outline_stretches_fini(td_outline_stretches *self);
