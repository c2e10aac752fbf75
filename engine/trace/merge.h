/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Merge: all threads' events in the order of (time, thread, position). A merge stands before some
 * event and moves forwards; it can be put before any event whose place is known. One thread. */
#pragma once

#include "engine/trace/directory.h"

/* Where an event lies, to put a merge before it. */
typedef struct td_merge_place {
  uint64_t ns;
  uint32_t thread;
  uint32_t chunk, number; /* of the thread's chunks, and of the events in it */
} td_merge_place;

/* td_merge_is_before returns true if the event at a comes before the event at b. */
static inline bool
td_merge_is_before(const td_merge_place *a, const td_merge_place *b) {
  if (a->ns != b->ns) return a->ns < b->ns;
  if (a->thread != b->thread) return a->thread < b->thread;
  return a->chunk != b->chunk ? a->chunk < b->chunk : a->number < b->number;
}

typedef struct td_merge_stream {
  td_decoded decoded; /* of `chunk` */
  uint32_t chunk;     /* n_chunks: at the end */
  uint32_t loaded;    /* chunk that `decoded` holds, or UINT32_MAX */
  uint32_t next;      /* event in it */
  uint64_t n_unknown; /* events of unknown kinds passed over since td_merge_start */
} td_merge_stream;

typedef struct td_merge {
  td_directory *directory;  /* (borrowed) */
  td_merge_stream *streams; /* (owned) [n_threads] */
  uint32_t *heap;           /* (owned) threads that are not at their end, least key first */
  uint64_t *times;          /* (owned) [n_threads] key of each stream's next event */
  uint32_t n_heap;
  bool handed_out; /* the first event of the heap was returned: step over it next time */
} td_merge;

void td_merge_init(td_merge *merge, td_directory *directory);
void td_merge_fini(td_merge *merge);

/* td_merge_start puts the merge before the first event, td_merge_seek before the event of a place.
 */
void td_merge_start(td_merge *merge);
void td_merge_seek(td_merge *merge, const td_merge_place *place);

/* td_merge_next returns the next event, or NULL at the end. Valid until the merge moves again. */
const td_event *td_merge_next(td_merge *merge);

/* Events that come one after another, of one chunk: n of them, from number `first` on. */
typedef struct td_merge_run {
  const td_decoded *events;
  uint32_t first, n;
  uint32_t thread, chunk;
} td_merge_run;

/* td_merge_next_run is td_merge_next for up to `most` events at once, at least one. False at the
 * end. Valid until the merge moves again. td_merge_run_place returns where event i of a run lies.
 */
bool td_merge_next_run(td_merge *merge, uint32_t most, td_merge_run *run);

static inline td_merge_place
td_merge_run_place(const td_merge_run *run, uint32_t i) {
  uint32_t number = run->first + i;
  return (td_merge_place){td_decoded_get(run->events, number)->time, run->thread, run->chunk,
                          number};
}

/* td_merge_last returns the place of the event that the merge returned last. */
td_merge_place td_merge_last(const td_merge *merge);
