/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/trace/contents.h"
#include "engine/trace/tape_end.h"

#include <string.h>

/* How many events of each kind a chunk has. */
static td_status
put_chunk(td_chunk_bytes *table, td_directory *directory, uint32_t thread, uint32_t chunk,
          td_decoded *decoded, td_error *error) {
  uint32_t n_by_kind[TD_EVENT_LIMIT] = {0}, n_kinds = 0;
  td_status status = td_directory_load(directory, thread, chunk, decoded, error);
  if (status) return status;
  for (uint32_t i = 0; i < decoded->n_events; i++)
    n_kinds += n_by_kind[td_decoded_get(decoded, i)->kind]++ == 0;
  td_chunk_bytes_put_varint(table, n_kinds);
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    if (!n_by_kind[kind]) continue;
    td_chunk_bytes_put_varint(table, kind);
    td_chunk_bytes_put_varint(table, n_by_kind[kind]);
  }
  return TD_OK;
}

static td_status
put_threads(td_chunk_bytes *table, td_directory *directory, td_error *error) {
  td_decoded decoded = {0};
  td_status status = TD_OK;
  td_chunk_bytes_put_varint(table, directory->n_threads);
  for (uint32_t t = 0; t < directory->n_threads; t++) {
    td_chunk_bytes_put_varint(table, directory->threads[t].n_chunks);
    for (uint32_t c = 0; c < directory->threads[t].n_chunks && !status; c++)
      status = put_chunk(table, directory, t, c, &decoded, error);
  }
  td_decoded_fini(&decoded);
  return status;
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
write_table(const char *path, td_directory *directory, const td_contents *contents,
            td_error *error) {
  td_chunk_bytes table = {0};
  td_tape_end end = {0};
  td_status status = put_threads(&table, directory, error);
  if (!status) put_contents(&table, contents);
  bool is_made = !status && td_tape_end_init(&end, directory) &&
                 td_tape_end_put(&end, TD_CHUNK_TABLE, table.bytes, table.n);
  if (is_made)
    status = td_tape_end_replace(&end, path, directory, error);
  else if (!status)
    status = td_error_set(error, TD_OUT_OF_MEMORY, "no memory for a table of contents");
  td_tape_end_fini(&end);
  td_chunk_bytes_fini(&table);
  return status;
}

td_status
td_contents_add(const char *path, td_error *error) {
  td_directory directory;
  td_status status = td_directory_open(path, &directory, error);
  if (!status && directory.header.flags & TD_TAPE_RAW) {
    td_directory_close(&directory);
    return td_error_set(error, TD_UNSUPPORTED, "a raw tape gets its contents when it is derived");
  }
  if (status) return status;
  td_contents contents = {0};
  td_merge merge;
  bool wanted = td_directory_is_sound(&directory) && !directory.gap && directory.n_pieces == 0;
  if (wanted) {
    td_merge_init(&merge, &directory);
    td_contents_scan(&contents, &merge);
    td_merge_fini(&merge);
    wanted =
        td_directory_is_sound(&directory) && !directory.out_of_memory && contents.n_unknown == 0;
  }
  if (wanted) status = write_table(path, &directory, &contents, error);
  td_contents_fini(&contents);
  td_directory_close(&directory);
  return status;
}
