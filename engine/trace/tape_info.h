/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Facts about a tape as a whole. */
#pragma once

#include "engine/events/event_type.h"

typedef struct td_tape_thread {
  uint64_t n_events;
  uint64_t first_ns, last_ns;
} td_tape_thread;

/* All borrowed from the tape. */
typedef struct td_tape_info {
  uint32_t version;              /* of the format */
  uint64_t n_events;             /* in the merged order */
  uint64_t started_ns;           /* wall clock (Unix time) at the first tick */
  uint64_t duration_ns;          /* last event's time */
  uint64_t n_dropped;            /* sum over `dropped` events */
  uint64_t file_bytes, n_chunks; /* bytes without gaps, which take no room on the disk */
  bool trusted;                  /* see td_tape_trust_all */
  uint32_t n_threads;            /* threads that wrote events: ids 0 .. n_threads - 1 */
  const td_tape_thread *threads;
  uint64_t n_by_kind[TD_EVENT_LIMIT];
  uint8_t known[TD_EVENT_LIMIT]; /* td_knowledge: how events of each kind are known; observed where
                                    the tape does not say, reconstructed where processes differ */
  bool has_pop_times; /* a probe says that it read the clock for each pop, and before each push */
  uint64_t n_unknown; /* events of kinds this build does not know: skipped, not numbered */
  uint32_t n_strings;
  bool complete;      /* the recording was ended properly: an index was found */
  const char *damage; /* what is missing or wrong, in words, or NULL */
  bool is_cut_off;    /* the damage is that the end is missing, and nothing else */
} td_tape_info;
