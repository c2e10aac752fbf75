/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/trace/contents.h"
#include "engine/trace/tape_end.h"

#include <string.h>

/* How many events of each kind the chunks of a thread have. */
typedef struct tally {
  uint32_t n_by_kind[TD_EVENT_LIMIT]; /* of `chunk` */
  uint32_t chunk;
  td_chunk_bytes before; /* what the table says of the chunks before it */
} tally;

typedef struct adding {
  td_directory *directory;
  tally *tallies; /* (owned) [n_threads] */
  const td_contents_listener *listener;
} adding;

static void
put_chunk(tally *self) {
  uint32_t n_kinds = 0;
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++)
    n_kinds += self->n_by_kind[kind] > 0;
  td_chunk_bytes_put_varint(&self->before, n_kinds);
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    if (!self->n_by_kind[kind]) continue;
    td_chunk_bytes_put_varint(&self->before, kind);
    td_chunk_bytes_put_varint(&self->before, self->n_by_kind[kind]);
  }
  memset(self->n_by_kind, 0, sizeof self->n_by_kind);
  self->chunk++;
}

static void
run_cb(const td_merge_run *run, uint64_t seq, void *data) {
  adding *self = data;
  tally *now = &self->tallies[run->thread];
  while (now->chunk < run->chunk)
    put_chunk(now);
  for (uint32_t i = 0; i < run->n; i++)
    now->n_by_kind[td_decoded_get(run->events, run->first + i)->kind]++;
  if (self->listener) self->listener->run(run, seq, self->listener->data);
}

static void
put_threads(td_chunk_bytes *table, adding *self) {
  td_chunk_bytes_put_varint(table, self->directory->n_threads);
  for (uint32_t t = 0; t < self->directory->n_threads; t++) {
    uint32_t n_chunks = self->directory->threads[t].n_chunks;
    tally *now = &self->tallies[t];
    while (now->chunk < n_chunks)
      put_chunk(now);
    td_chunk_bytes_put_varint(table, n_chunks);
    td_chunk_bytes_put(table, now->before.bytes, now->before.n);
  }
}

static void
put_contents(td_chunk_bytes *table, const td_contents *contents) {
  uint64_t ns = 0, n_strings = 0, id = 0;
  for (size_t i = 0; i < contents->n_blocks; i++) {
    const td_merge_place *place = &contents->places[i];
    td_chunk_bytes_put_varint(table, place->ns - ns);
    td_chunk_bytes_put_varint(table, place->thread);
    td_chunk_bytes_put_varint(table, place->chunk);
    td_chunk_bytes_put_varint(table, place->number);
    ns = place->ns;
  }
  td_chunk_bytes_put_varint(table, contents->n_dropped);
  for (uint32_t i = 0; i < contents->n_strings; i++)
    n_strings += contents->strings[i] != NULL;
  td_chunk_bytes_put_varint(table, n_strings);
  for (uint32_t i = 0; i < contents->n_strings; i++) {
    if (!contents->strings[i]) continue;
    size_t length = strlen(contents->strings[i]);
    td_chunk_bytes_put_varint(table, i - id);
    td_chunk_bytes_put_varint(table, length);
    td_chunk_bytes_put(table, contents->strings[i], length);
    id = i;
  }
  td_chunk_bytes_put_varint(table, contents->n_known);
  for (size_t i = 0; i < contents->n_known; i++) {
    td_chunk_bytes_put_varint(table, contents->known[i].kind);
    td_chunk_bytes_put_varint(table, contents->known[i].how);
  }
}

static td_status
write_table(const char *path, adding *self, const td_contents *contents, td_error *error) {
  td_chunk_bytes table = {0};
  td_tape_end end = {0};
  td_status status = TD_OK;
  put_threads(&table, self);
  put_contents(&table, contents);
  if (td_tape_end_init(&end, self->directory) &&
      td_tape_end_put(&end, TD_CHUNK_TABLE, table.bytes, table.n))
    status = td_tape_end_replace(&end, path, self->directory, error);
  else
    status = td_error_set(error, TD_OUT_OF_MEMORY, "no memory for a table of contents");
  td_tape_end_fini(&end);
  td_chunk_bytes_fini(&table);
  return status;
}

/* Whether a table can stand for these events. */
static bool
scan(adding *self, td_contents *contents) {
  td_directory *directory = self->directory;
  const td_contents_listener *listener = self->listener, own = {.run = run_cb, .data = self};
  td_merge merge;
  if (listener && listener->begin)
    listener->begin(td_directory_count_events(directory), listener->data);
  td_merge_init(&merge, directory);
  td_contents_scan(contents, &merge, &own);
  td_merge_fini(&merge);
  return td_directory_is_sound(directory) && !directory->out_of_memory && contents->n_unknown == 0;
}

static td_status
add(const char *path, adding *self, td_error *error) {
  td_directory *directory = self->directory;
  if (directory->header.flags & TD_TAPE_RAW)
    return td_error_set(error, TD_UNSUPPORTED, "a raw tape gets its contents when it is derived");
  if (!td_directory_is_sound(directory) || directory->gap || directory->n_pieces) return TD_OK;
  td_contents contents;
  self->tallies = TD_NEW_N(tally, directory->n_threads);
  td_status status = scan(self, &contents) ? write_table(path, self, &contents, error) : TD_OK;
  for (uint32_t t = 0; t < directory->n_threads; t++)
    td_chunk_bytes_fini(&self->tallies[t].before);
  free(self->tallies);
  td_contents_fini(&contents);
  return status;
}

td_status
td_contents_add_along(const char *path, const td_contents_listener *listener, td_error *error) {
  td_directory directory;
  adding self = {.directory = &directory, .listener = listener};
  td_status status = td_directory_open(path, &directory, error);
  if (status) return status;
  status = add(path, &self, error);
  td_directory_close(&directory);
  return status;
}

td_status
td_contents_add(const char *path, td_error *error) {
  return td_contents_add_along(path, NULL, error);
}
