/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How far the work of each stream goes, while a modeller reads the events of a tape. Private to
 * engine/profile. Zero-initialise. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/model/pass_model.h"

/* The end of all work that was launched so far, on a stream or before an event. */
typedef struct td_stream_front {
  uint32_t piece;      /* the last kernel or join, or TD_NONE */
  uint64_t end_ns;     /* of that piece */
  uint64_t unknown_ns; /* end of work that no task of the model launched; 0: there is none */
} td_stream_front;

typedef struct td_pass_streams {
  td_stream_front *fronts; /* (owned) of streams */
  uint32_t n, capacity;
  td_number_map streams;   /* 1 + the place in `fronts` */
  uint64_t last_ns;        /* the latest end of a kernel */
  td_stream_front *events; /* (owned) recorded since the last clear */
  uint32_t n_events, events_capacity;
  td_number_map numbers; /* by event: 1 + the place in `events` */
} td_pass_streams;

/* td_pass_streams_front returns the front of a stream, borrowed until the next call. */
td_stream_front *td_pass_streams_front(td_pass_streams *streams, td_model_stream stream);

/* td_pass_streams_record notes an event of a stream. td_pass_streams_recorded returns what comes
 * before an event. If the event is older than the last clear, it is all work by now, and unknown.
 */
void td_pass_streams_record(td_pass_streams *streams, td_model_stream stream, uint32_t event);
td_stream_front td_pass_streams_recorded(const td_pass_streams *streams, uint32_t event);

/* td_pass_streams_clear says that there are no pieces any more: all work is unknown. */
void td_pass_streams_clear(td_pass_streams *streams);
void td_pass_streams_fini(td_pass_streams *streams);
