/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Contents: what a scan of all events finds out about a tape. A tape that was ended properly may
 * bring them along as a table of contents, so that its readers need not scan it (FORMAT.md).
 *
 * Note [A table of contents may lie]
 * A table comes from the same stranger as the tape. Readers reserve memory by its counts, so more
 * events than counted would be written beyond the end. Therefore:
 * - The table counts each chunk's events by kind. A chunk that has others is damaged: its events
 *   are not handed out (merge.c).
 * - The places of blocks must rise. A block has only events from its own place up to the next one
 *   (tape.c). So no event is handed out twice in one pass.
 * A table that lies can hide events, but it cannot make a reader take more than counted. */
#pragma once

#include "engine/trace/merge.h"
#include "engine/trace/tape_info.h"

#define TD_BLOCK_EVENTS 1024u

typedef struct td_contents {
  uint64_t n_events, n_dropped, n_unknown;
  uint64_t n_by_kind[TD_EVENT_LIMIT];
  td_tape_thread *threads; /* (owned) [directory->n_threads] */
  td_merge_place *places;  /* (owned) [n_blocks] of every TD_BLOCK_EVENTS-th event */
  size_t n_blocks, places_capacity;
  char **strings; /* (owned, as the strings) [strings_capacity], NULL if undefined */
  uint32_t n_strings, strings_capacity;
  td_event_known *known; /* (owned) in order; their strings may come later */
  size_t n_known, known_capacity;
  uint64_t *segments; /* (owned) [n_segments] the first event of each; none: it was not cut */
  uint32_t n_segments, segments_capacity;
} td_contents;

/* Who hears of all events while they are scanned. `run` gets each run of them; `seq` is the number
 * of its first event. */
typedef struct td_contents_listener {
  void (*begin)(uint64_t n_events, void *data); /* as the headers of chunks say; or NULL */
  void (*run)(const td_merge_run *run, uint64_t seq, void *data);
  void *data;
} td_contents_listener;

/* td_contents_scan reads all events of a merge, once. `listener` may be NULL; its `begin` is not
 * called. */
void td_contents_scan(td_contents *contents, td_merge *merge, const td_contents_listener *listener);
void td_contents_fini(td_contents *contents);

/* td_contents_define gives a string its number. It ignores a number far beyond what so many events
 * can define. */
void td_contents_define(td_contents *contents, uint32_t id, const char *text, size_t length);

/* td_contents_read takes the contents from the tape's table, and what the table says of each chunk
 * into the directory. False if the tape has none, or one that cannot be used. */
bool td_contents_read(td_contents *contents, td_directory *directory);

/* td_contents_load_table returns the bytes of the tape's table, which the caller frees. NULL if
 * they cannot be read. */
unsigned char *td_contents_load_table(td_directory *directory, size_t *n_bytes);

/* td_contents_add scans a tape that is over, and writes a table of contents at its end. A tape that
 * was not ended still says so. It leaves alone a tape that has a table or a gap, or that is
 * damaged. So it does if somebody still records it, or if it has events of unknown kinds. So it
 * does if the table would make the contents too large for the file. TD_IO: the tape is as before,
 * or lacks its end. Nobody else may write to the file. */
td_status td_contents_add(const char *path, td_error *error);

/* td_contents_add_along is td_contents_add for whoever wants to go over the events, too. The
 * listener hears of nothing if the tape is left alone. If it is damaged, the listener hears of a
 * part: so count the events. */
td_status td_contents_add_along(const char *path, const td_contents_listener *listener,
                                td_error *error);
