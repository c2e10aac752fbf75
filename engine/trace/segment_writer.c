/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/segment_writer.h"

#include "engine/base/alloc.h"
#include "engine/trace/contents.h"
#include "engine/trace/keyframe_chunk.h"
#include "engine/trace/tape_end.h"

struct td_segment_writer {
  td_directory directory;
  td_tape_end end;
  td_chunk_bytes table;  /* of contents, as it was */
  td_chunk_bytes firsts; /* what comes behind it */
  uint64_t first, n;     /* of the last segment; how many */
  uint64_t n_in_outline;
  bool out_of_memory;
};

/* A keyframe is written in the vocabulary of this build. */
static bool
has_own_schema(td_directory *directory) {
  td_chunk_header header;
  uint32_t checksum;
  td_tape_file *file = &directory->file;
  uint64_t offset = sizeof(td_tape_header);
  if (!td_tape_file_header(file, offset, &header) ||
      td_tape_file_contents(file, offset, &header, &checksum, NULL))
    return false;
  return td_encoder_has_schema(file->raw, header.raw_bytes);
}

static bool
can_have_segments(td_directory *directory) {
  return directory->has_end && td_directory_is_sound(directory) && !directory->gap &&
         directory->n_pieces && !directory->n_keyframes && has_own_schema(directory);
}

static bool
take_table(td_segment_writer *self) {
  size_t n_bytes;
  unsigned char *bytes = td_contents_load_table(&self->directory, &n_bytes);
  if (bytes) td_chunk_bytes_put(&self->table, bytes, n_bytes);
  free(bytes);
  return bytes != NULL;
}

td_status
td_segment_writer_open(const char *path, td_segment_writer **writer, td_error *error) {
  td_segment_writer *made = TD_NEW(td_segment_writer);
  td_status status = td_directory_open(path, &made->directory, error);
  *writer = NULL;
  if (!status && can_have_segments(&made->directory) && take_table(made) &&
      td_tape_end_init(&made->end, &made->directory))
    *writer = made;
  else if (status)
    free(made);
  else
    td_segment_writer_abandon(made);
  return status;
}

static void
put_keyframe(td_segment_writer *self, uint32_t number, const td_keyframe *keyframe) {
  for (size_t at = 0, byte = 0; at < keyframe->n && !self->out_of_memory;) {
    td_chunk_header header = td_tape_end_begin_chunk(&self->end, TD_CHUNK_KEYFRAME);
    header.thread = number;
    self->out_of_memory = !td_keyframe_chunk_put(&self->end.out, &header, keyframe, &at, &byte);
  }
}

void
td_segment_writer_add(td_segment_writer *self, uint64_t first, const td_keyframe *keyframe) {
  td_chunk_bytes_put_varint(&self->firsts, first - self->first);
  td_chunk_bytes_put_varint(&self->firsts, keyframe->n);
  put_keyframe(self, (uint32_t)self->n, keyframe);
  self->first = first;
  self->n++;
}

void
td_segment_writer_outline(td_segment_writer *self, const td_keyframe *outline) {
  self->n_in_outline = outline->n;
  put_keyframe(self, TD_SEGMENT_OUTLINE, outline);
}

td_status
td_segment_writer_close(td_segment_writer *self, const char *path, td_error *error) {
  td_chunk_bytes_put_varint(&self->table, self->n);
  td_chunk_bytes_put(&self->table, self->firsts.bytes, self->firsts.n);
  td_chunk_bytes_put_varint(&self->table, self->n_in_outline);
  bool is_made = !self->out_of_memory &&
                 td_tape_end_put(&self->end, TD_CHUNK_TABLE, self->table.bytes, self->table.n);
  td_status status =
      is_made ? td_tape_end_replace(&self->end, path, &self->directory, error)
              : td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the segments of the tape");
  td_segment_writer_abandon(self);
  return status;
}

void
td_segment_writer_abandon(td_segment_writer *self) {
  td_chunk_bytes_fini(&self->table);
  td_chunk_bytes_fini(&self->firsts);
  td_tape_end_fini(&self->end);
  td_directory_close(&self->directory);
  free(self);
}
