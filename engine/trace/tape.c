/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/tape.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/trace/merge.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Events are handed out from blocks of the merged order, of which the newest few are kept. */
#define BLOCK_EVENTS 1024u
#define BLOCKS_KEPT 8

typedef struct block {
  uint64_t number; /* UINT64_MAX: empty */
  uint64_t used;   /* when it was used last */
  td_decoded events;
} block;

struct td_tape {
  char *path; /* (owned) */
  td_directory directory;
  td_merge merge;
  uint64_t merge_block;   /* the block that merge stands before */
  td_merge_place *places; /* (owned) [n_blocks] of the first events of the blocks */
  size_t n_blocks, places_capacity;
  block blocks[BLOCKS_KEPT];
  const block *last; /* used last, or NULL */
  uint64_t clock;    /* counts uses of blocks */
  char **strings;    /* (owned) [n_strings], NULL where undefined */
  uint32_t n_strings;
  td_tape_thread *threads; /* (owned) */
  td_event_known *known;   /* (owned) in order; their strings may come later */
  size_t n_known, known_capacity;
  td_tape_info info;
};

/* The string numbers of a real tape are dense: one far beyond what its events could define is
 * damage. */
static void
collect_string(td_tape *tape, const td_event_string *event) {
  if (event->id > tape->info.n_events + 65536) return;
  if (event->id >= tape->n_strings) {
    uint32_t n = TD_MAX(event->id + 1, tape->n_strings * 2);
    tape->strings = td_realloc(tape->strings, n, sizeof *tape->strings);
    memset(tape->strings + tape->n_strings, 0, (n - tape->n_strings) * sizeof *tape->strings);
    tape->n_strings = n;
  }
  size_t room = event->event.size > sizeof *event ? event->event.size - sizeof *event : 0;
  size_t length = TD_MIN((size_t)event->length, room);
  free(tape->strings[event->id]);
  tape->strings[event->id] = td_alloc(length + 1, 1);
  memcpy(tape->strings[event->id], event + 1, length);
  tape->info.n_strings = TD_MAX(tape->info.n_strings, event->id + 1);
}

static void
collect_event(td_tape *tape, const td_event *event) {
  td_tape_info *info = &tape->info;
  td_tape_thread *thread = &tape->threads[event->thread];
  if (thread->n_events++ == 0) thread->first_ns = event->time;
  thread->last_ns = event->time;
  info->n_by_kind[event->kind]++;
  info->duration_ns = TD_MAX(info->duration_ns, event->time);
  if (event->kind == TD_EVENT_string) collect_string(tape, (const td_event_string *)event);
  if (event->kind == TD_EVENT_known) {
    TD_GROW(tape->known, tape->n_known, tape->known_capacity);
    tape->known[tape->n_known++] = *(const td_event_known *)event;
  }
  if (event->kind == TD_EVENT_dropped) info->n_dropped += ((const td_event_dropped *)event)->count;
  info->n_events++;
}

static void
resolve_known(td_tape *tape) {
  bool said[TD_EVENT_LIMIT] = {false};
  for (size_t i = 0; i < tape->n_known; i++) {
    td_event_kind kind = td_event_kind_find(td_tape_string(tape, tape->known[i].kind));
    if (kind == TD_EVENT_none || tape->known[i].how >= TD_knowledge_LIMIT) continue;
    uint8_t how = (uint8_t)tape->known[i].how, *now = &tape->info.known[kind];
    *now = said[kind] && *now != how ? TD_knowledge_reconstructed : how;
    said[kind] = true;
  }
}

/* One pass over all events: counts, strings, and the place of each block's first event. */
static void
scan(td_tape *tape) {
  td_merge_start(&tape->merge);
  for (const td_event *event; (event = td_merge_next(&tape->merge));) {
    if (tape->info.n_events % BLOCK_EVENTS == 0) {
      TD_GROW(tape->places, tape->n_blocks, tape->places_capacity);
      tape->places[tape->n_blocks++] = td_merge_last(&tape->merge);
    }
    collect_event(tape, event);
  }
  for (uint32_t t = 0; t < tape->directory.n_threads; t++)
    tape->info.n_unknown += tape->merge.streams[t].n_unknown;
  tape->merge_block = UINT64_MAX;
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
  if (status) return status;
  td_tape *made = TD_NEW(td_tape);
  made->path = td_dup_string(path);
  made->directory = directory;
  made->threads = TD_NEW_N(td_tape_thread, directory.n_threads);
  for (int i = 0; i < BLOCKS_KEPT; i++)
    made->blocks[i].number = UINT64_MAX;
  td_merge_init(&made->merge, &made->directory);
  scan(made);
  made->info.version = directory.header.version;
  made->info.started_ns = directory.header.start_wall_ns;
  made->info.file_bytes = directory.file.n_bytes;
  made->info.n_chunks = directory.n_chunks;
  made->info.trusted = directory.trusted;
  made->info.n_threads = directory.n_threads;
  made->info.threads = made->threads;
  made->info.complete = directory.complete;
  made->info.damage = made->directory.damage;
  status = td_tape_check_readable(made, error);
  if (status)
    td_tape_close(made);
  else
    *tape = made;
  return status;
}

td_status
td_tape_check_readable(const td_tape *tape, td_error *error) {
  if (tape->directory.out_of_memory) return td_error_set(error, TD_OUT_OF_MEMORY, "out of memory");
  return tape->directory.unreadable ? td_directory_tell_unreadable(&tape->directory, error) : TD_OK;
}

void
td_tape_close(td_tape *tape) {
  if (!tape) return;
  td_merge_fini(&tape->merge);
  td_directory_close(&tape->directory);
  for (int i = 0; i < BLOCKS_KEPT; i++)
    td_decoded_fini(&tape->blocks[i].events);
  for (uint32_t id = 0; id < tape->n_strings; id++)
    free(tape->strings[id]);
  free(tape->strings);
  free(tape->threads);
  free(tape->known);
  free(tape->places);
  free(tape->path);
  free(tape);
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
  return id < tape->n_strings && tape->strings[id] ? tape->strings[id] : "";
}

/* Appends a copy of an event, cut to what td_any_event holds. */
static void
block_add(block *into, const td_event *event) {
  td_decoded *events = &into->events;
  size_t size = TD_MIN((size_t)event->size, sizeof(td_any_event));
  if (events->n_bytes + size > events->bytes_capacity) {
    events->bytes_capacity = BLOCK_EVENTS * sizeof(td_any_event);
    events->bytes = td_realloc(events->bytes, events->bytes_capacity, 1);
  }
  memcpy(events->bytes + events->n_bytes, event, size);
  TD_GROW(events->offsets, events->n_events, events->offsets_capacity);
  events->offsets[events->n_events++] = (uint32_t)events->n_bytes;
  events->n_bytes += size;
}

static void
block_load(td_tape *tape, block *into, uint64_t number) {
  if (tape->merge_block != number) td_merge_seek(&tape->merge, &tape->places[number]);
  into->number = number;
  into->events.n_events = 0;
  into->events.n_bytes = 0;
  const td_event *event;
  while (into->events.n_events < BLOCK_EVENTS && (event = td_merge_next(&tape->merge)))
    block_add(into, event);
  tape->merge_block = number + 1;
}

static const block *
block_get(td_tape *tape, uint64_t number) {
  block *oldest = &tape->blocks[0];
  for (int i = 0; i < BLOCKS_KEPT; i++) {
    block *candidate = &tape->blocks[i];
    if (candidate->number == number) {
      candidate->used = ++tape->clock;
      return candidate;
    }
    if (candidate->used < oldest->used) oldest = candidate;
  }
  block_load(tape, oldest, number);
  oldest->used = ++tape->clock;
  return oldest;
}

static bool
is_unusable(const td_tape *tape) {
  return tape->directory.unreadable || tape->directory.out_of_memory;
}

const td_any_event *
td_tape_peek(td_tape *tape, uint64_t seq) {
  if (seq >= tape->info.n_events || is_unusable(tape)) return NULL;
  if (!tape->last || tape->last->number != seq / BLOCK_EVENTS)
    tape->last = block_get(tape, seq / BLOCK_EVENTS);
  uint32_t at = (uint32_t)(seq % BLOCK_EVENTS);
  if (at >= tape->last->events.n_events || is_unusable(tape)) return NULL;
  return (const void *)td_decoded_get(&tape->last->events, at);
}

td_status
td_tape_get(td_tape *tape, uint64_t seq, td_any_event *out, td_error *error) {
  if (seq >= tape->info.n_events)
    return td_error_set(error, TD_OUT_OF_RANGE,
                        "event %" PRIu64 " is not on the tape: it has %" PRIu64, seq,
                        tape->info.n_events);
  const td_any_event *event = td_tape_peek(tape, seq);
  if (is_unusable(tape)) return td_tape_check_readable(tape, error);
  if (!event) return td_error_set(error, TD_DAMAGED, "event %" PRIu64 " cannot be read", seq);
  memcpy(out, event, TD_MIN((size_t)event->event.size, sizeof *out));
  return TD_OK;
}

uint64_t
td_tape_seq_at(td_tape *tape, uint64_t ns) {
  uint64_t after;
  TD_BISECT(after, 0, tape->n_blocks, tape->places[after].ns <= ns);
  if (after == 0) return 0;
  const td_decoded *events = &block_get(tape, after - 1)->events;
  uint32_t i;
  TD_BISECT(i, 0, events->n_events, td_decoded_get(events, i)->time <= ns);
  return (after - 1) * BLOCK_EVENTS + (i ? i - 1 : 0);
}
