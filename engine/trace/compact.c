/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/compact.h"

#include "engine/base/alloc.h"
#include "engine/trace/directory.h"
#include "engine/trace/writer.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct place {
  uint64_t offset;
  uint32_t thread;
} place;

static int
compare_places(const void *a, const void *b) {
  uint64_t one = ((const place *)a)->offset, other = ((const place *)b)->offset;
  return (one > other) - (one < other);
}

/* In the order of the file: the clocks of the last chunk are those of the tape. */
static place *
list_places(const td_directory *directory) {
  place *places = TD_NEW_N(place, directory->n_chunks);
  size_t n = 0;
  for (uint32_t t = 0; t < directory->n_threads; t++)
    for (uint32_t c = 0; c < directory->threads[t].n_chunks; c++)
      places[n++] = (place){directory->threads[t].chunks[c].offset, t};
  qsort(places, n, sizeof *places, compare_places);
  return places;
}

/* n_written: of this thread's events. */
static td_status
copy_chunk(td_writer *writer, td_directory *directory, const place *place, uint64_t *n_written,
           unsigned char *stored, td_error *error) {
  td_chunk_header header;
  if (!td_tape_file_header(&directory->file, place->offset, &header) ||
      !td_tape_file_read(&directory->file, place->offset + sizeof header, stored,
                         header.stored_bytes))
    return td_directory_tell_unreadable(directory, error);
  header.first_number = *n_written;
  *n_written += header.n_events;
  td_chunk_header_seal(&header, header.raw_bytes, header.stored_bytes);
  td_writer_copy(writer, &header, stored);
  return TD_OK;
}

static td_status
copy_all(td_writer *writer, td_directory *directory, td_error *error) {
  place *places = list_places(directory);
  uint64_t *n_written = TD_NEW_N(uint64_t, directory->n_threads);
  unsigned char *stored = td_alloc(TD_CHUNK_STORED_MAX, 1);
  td_status status = TD_OK;
  for (uint64_t i = 0; i < directory->n_chunks && !status; i++)
    status = copy_chunk(writer, directory, &places[i], &n_written[places[i].thread], stored, error);
  free(stored);
  free(n_written);
  free(places);
  return status;
}

/* The copy gets the schema of this build. */
static td_status
check_schema(td_directory *directory, td_error *error) {
  td_chunk_header header;
  uint32_t checksum;
  uint64_t offset = sizeof(td_tape_header);
  if (!td_tape_file_header(&directory->file, offset, &header))
    return td_directory_tell_unreadable(directory, error);
  td_status status = td_tape_file_contents(&directory->file, offset, &header, &checksum, error);
  if (status) return status;
  bool same = td_encoder_has_schema(directory->file.raw, header.raw_bytes);
  return same ? TD_OK : td_error_set(error, TD_UNSUPPORTED, "another version of Tapedeck wrote it");
}

/* Chunks that were lost would go unnoticed in the copy, because it numbers the events anew. */
static td_status
check_damage(const td_directory *directory, td_error *error) {
  if (td_directory_is_sound(directory)) return TD_OK;
  return td_error_set(error, TD_DAMAGED, "%s", directory->damage);
}

td_status
td_compact(const char *from, const char *to, bool is_whole, td_error *error) {
  td_directory directory;
  td_writer *writer = NULL;
  td_status status = td_directory_open_own(from, &directory, error);
  if (status) return status;
  status = check_damage(&directory, error);
  if (!status) status = check_schema(&directory, error);
  if (!status) status = td_writer_open_copy(to, true, &directory.header, &writer, error);
  if (!status) status = copy_all(writer, &directory, error);
  if (writer && status)
    td_writer_abandon(writer);
  else if (writer)
    status = is_whole ? td_writer_close(writer, error) : td_writer_cut(writer, error);
  if (writer && status) unlink(to);
  td_directory_close(&directory);
  return status;
}
