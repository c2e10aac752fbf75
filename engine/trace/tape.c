/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/tape.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/trace/ahead.h"
#include "engine/trace/derive/derive.h"
#include "engine/trace/keyframe_chunk.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Events are handed out from blocks of the merged order, of which the newest few are kept. */
#define BLOCKS_KEPT 8
#define BLOCKS_OF_PASS 64 /* of a tape with fewer, a thread would cost more than it saves */

struct td_tape {
  char *path; /* (owned) */
  td_block_source source;
  td_block blocks[BLOCKS_KEPT];
  const td_block *last;        /* used last, or NULL */
  uint64_t clock;              /* counts uses of blocks */
  td_ahead *ahead;             /* (owned) during a pass, or NULL: it owns the source then */
  bool unusable;               /* as far as events were handed out */
  bool (*goes_on)(void *data); /* or NULL */
  void *watch_data;
  td_tape_info info;
};

static void
resolve_known(td_tape *tape) {
  bool said[TD_EVENT_LIMIT] = {false};
  for (size_t i = 0; i < tape->source.contents.n_known; i++) {
    const td_event_known *known = &tape->source.contents.known[i];
    td_event_kind kind = td_event_kind_find(td_tape_string(tape, known->kind));
    if (kind == TD_EVENT_none || known->how >= TD_knowledge_LIMIT) continue;
    uint8_t how = (uint8_t)known->how, *now = &tape->info.known[kind];
    tape->info.has_pop_times |= kind == TD_EVENT_queue_pop && how == TD_knowledge_observed;
    *now = said[kind] && *now != how ? TD_knowledge_reconstructed : how;
    said[kind] = true;
  }
}

static void
fill_info(td_tape *tape) {
  const td_directory *directory = &tape->source.directory;
  const td_contents *contents = &tape->source.contents;
  tape->info = (td_tape_info){.version = directory->header.version,
                              .n_events = contents->n_events,
                              .started_ns = directory->header.start_wall_ns,
                              .n_dropped = contents->n_dropped,
                              .file_bytes = directory->n_file_bytes,
                              .n_chunks = directory->n_chunks,
                              .trusted = directory->trusted,
                              .n_threads = directory->n_threads,
                              .threads = contents->threads,
                              .n_unknown = contents->n_unknown,
                              .n_strings = contents->n_strings,
                              .complete = directory->complete,
                              .damage = directory->damage,
                              .is_cut_off = directory->damage && directory->cut_off};
  memcpy(tape->info.n_by_kind, contents->n_by_kind, sizeof tape->info.n_by_kind);
  for (uint32_t t = 0; t < directory->n_threads; t++)
    tape->info.duration_ns = TD_MAX(tape->info.duration_ns, contents->threads[t].last_ns);
  resolve_known(tape);
}

bool
td_tape_is_at(const char *path) {
  char magic[sizeof TD_TAPE_MAGIC - 1];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  ssize_t n = read(file, magic, sizeof magic);
  close(file);
  return n == sizeof magic && memcmp(magic, TD_TAPE_MAGIC, sizeof magic) == 0;
}

void
td_tape_trust_all(void) {
  td_directory_trust_all();
}

td_status
td_tape_open(const char *path, td_tape **tape, td_error *error) {
  td_directory directory;
  td_status status = td_directory_open(path, &directory, error);
  if (!status) status = td_derive(&directory, error);
  if (status) return status;
  td_tape *made = TD_NEW(td_tape);
  made->path = td_dup_string(path);
  made->source.directory = directory;
  for (int i = 0; i < BLOCKS_KEPT; i++)
    made->blocks[i].number = UINT64_MAX;
  td_merge_init(&made->source.merge, &made->source.directory);
  if (!td_contents_read(&made->source.contents, &made->source.directory))
    td_contents_scan(&made->source.contents, &made->source.merge, NULL);
  made->source.merge_block = UINT64_MAX;
  fill_info(made);
  status = td_tape_check_readable(made, error);
  if (status)
    td_tape_close(made);
  else
    *tape = made;
  return status;
}

td_status
td_tape_check_readable(const td_tape *tape, td_error *error) {
  if (tape->source.directory.out_of_memory)
    return td_error_set(error, TD_OUT_OF_MEMORY, "out of memory");
  return tape->source.directory.unreadable
             ? td_directory_tell_unreadable(&tape->source.directory, error)
             : TD_OK;
}

void
td_tape_close(td_tape *tape) {
  if (!tape) return;
  td_tape_end_pass(tape);
  td_merge_fini(&tape->source.merge);
  td_directory_close(&tape->source.directory);
  for (int i = 0; i < BLOCKS_KEPT; i++)
    td_decoded_fini(&tape->blocks[i].events);
  td_contents_fini(&tape->source.contents);
  free(tape->path);
  free(tape);
}

void
td_tape_set_watch(td_tape *tape, bool (*goes_on)(void *data), void *data) {
  tape->goes_on = goes_on;
  tape->watch_data = data;
}

bool
td_tape_goes_on(const td_tape *tape) {
  return !tape->goes_on || tape->goes_on(tape->watch_data);
}

const td_tape_info *
td_tape_info_get(const td_tape *tape) {
  return &tape->info;
}

const char *
td_tape_path(const td_tape *tape) {
  return tape->path;
}

const char *
td_tape_string(const td_tape *tape, uint32_t id) {
  const td_contents *contents = &tape->source.contents;
  return id < contents->n_strings && contents->strings[id] ? contents->strings[id] : "";
}

static const td_block *
note_trouble(td_tape *tape, const td_block *block) {
  tape->unusable = tape->unusable || block->unusable;
  if (block->damage) tape->info.is_cut_off &= block->is_cut_off;
  if (block->damage) tape->info.damage = block->damage;
  return block;
}

static const td_block *
block_get(td_tape *tape, uint64_t number) {
  if (tape->ahead) {
    const td_block *next = td_ahead_take(tape->ahead, number);
    if (next) return note_trouble(tape, next);
    td_tape_end_pass(tape);
  }
  td_block *oldest = &tape->blocks[0];
  for (int i = 0; i < BLOCKS_KEPT; i++) {
    td_block *candidate = &tape->blocks[i];
    if (candidate->number == number) {
      candidate->used = ++tape->clock;
      return candidate;
    }
    if (candidate->used < oldest->used) oldest = candidate;
  }
  td_block_load(&tape->source, oldest, number);
  oldest->used = ++tape->clock;
  return note_trouble(tape, oldest);
}

void
td_tape_begin_pass(td_tape *tape, const td_segment *segment) {
  uint64_t first = segment->first / TD_BLOCK_EVENTS;
  uint64_t end = (segment->end + TD_BLOCK_EVENTS - 1) / TD_BLOCK_EVENTS;
  td_tape_end_pass(tape);
  if (end - first < BLOCKS_OF_PASS) return;
  tape->ahead = td_ahead_new(&tape->source, first, end);
  tape->last = NULL;
}

void
td_tape_end_pass(td_tape *tape) {
  if (!tape->ahead) return;
  td_ahead_free(tape->ahead);
  tape->ahead = NULL;
  tape->last = NULL;
}

const td_any_event *
td_tape_peek(td_tape *tape, uint64_t seq) {
  if (seq >= tape->info.n_events || tape->unusable) return NULL;
  if (!tape->last || tape->last->number != seq / TD_BLOCK_EVENTS)
    tape->last = block_get(tape, seq / TD_BLOCK_EVENTS);
  uint32_t at = (uint32_t)(seq % TD_BLOCK_EVENTS);
  if (at >= tape->last->events.n_events || tape->unusable) return NULL;
  return (const void *)td_decoded_get(&tape->last->events, at);
}

td_tape_run
td_tape_peek_run(td_tape *tape, uint64_t seq, uint64_t end) {
  uint32_t at = (uint32_t)(seq % TD_BLOCK_EVENTS);
  if (seq >= end || !td_tape_peek(tape, seq)) return (td_tape_run){0};
  const td_decoded *events = &tape->last->events;
  return (td_tape_run){.bytes = events->bytes,
                       .offsets = events->offsets + at,
                       .n = (uint32_t)TD_MIN(events->n_events - at, end - seq)};
}

td_status
td_tape_get(td_tape *tape, uint64_t seq, td_any_event *out, td_error *error) {
  if (seq >= tape->info.n_events)
    return td_error_set(error, TD_OUT_OF_RANGE,
                        "event %" PRIu64 " is not on the tape: it has %" PRIu64, seq,
                        tape->info.n_events);
  const td_any_event *event = td_tape_peek(tape, seq);
  if (tape->unusable) return td_tape_check_readable(tape, error);
  if (!event) return td_error_set(error, TD_DAMAGED, "event %" PRIu64 " cannot be read", seq);
  memcpy(out, event, TD_MIN((size_t)event->event.size, sizeof *out));
  return TD_OK;
}

uint64_t
td_tape_seq_at(td_tape *tape, uint64_t ns) {
  uint64_t after;
  TD_BISECT(after, 0, tape->source.contents.n_blocks, tape->source.contents.places[after].ns <= ns);
  if (after == 0) return 0;
  const td_decoded *events = &block_get(tape, after - 1)->events;
  uint32_t i;
  TD_BISECT(i, 0, events->n_events, td_decoded_get(events, i)->time <= ns);
  return (after - 1) * TD_BLOCK_EVENTS + (i ? i - 1 : 0);
}

uint32_t
td_tape_n_segments(const td_tape *tape) {
  return tape->source.contents.n_segments;
}

td_segment
td_tape_whole(const td_tape *tape) {
  return (td_segment){.number = TD_SEGMENT_WHOLE, .end = tape->info.n_events};
}

td_segment
td_tape_outline(const td_tape *tape) {
  return (td_segment){.number = TD_SEGMENT_OUTLINE};
}

td_segment
td_tape_segment_at(const td_tape *tape, uint64_t seq) {
  const td_contents *contents = &tape->source.contents;
  uint32_t after, n = contents->n_segments;
  if (n == 0) return td_tape_whole(tape);
  TD_BISECT(after, 1, n, contents->segments[after] <= seq);
  return (td_segment){.number = after - 1,
                      .first = contents->segments[after - 1],
                      .end = after < n ? contents->segments[after] : tape->info.n_events};
}

td_status
td_tape_visit_keyframe(td_tape *tape, const td_segment *segment, td_keyframe_visitor visit,
                       void *data, td_error *error) {
  return td_keyframe_visit(&tape->source.directory, segment, tape->info.n_events, visit, data,
                           error);
}
