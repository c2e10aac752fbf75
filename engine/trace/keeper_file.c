/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/keeper_file.h"

#include "engine/base/alloc.h"
#include "engine/trace/write_at.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t
bytes_of(const td_chunk_header *header) {
  return sizeof *header + header->stored_bytes;
}

/* The recorder writes the schema and then the gap: a tape that ends between them is just begun. */
static td_status
look_for_gap(td_directory *directory, uint64_t begin, td_chunk_header *schema, td_error *error) {
  td_tape_file *file = &directory->file;
  bool is_there = td_tape_file_header(file, begin, schema);
  if (is_there && directory->gap) return TD_OK;
  if (!is_there || file->n_bytes < begin + bytes_of(schema) + sizeof *schema)
    return td_error_set(error, TD_NOT_A_TAPE, "its beginning is not written yet");
  return td_error_set(error, TD_UNSUPPORTED, "its recorder left no room for a keyframe");
}

td_status
td_keeper_file_open(const char *path, td_keeper_file *self, td_error *error) {
  *self = (td_keeper_file){.fd = -1};
  td_status status = td_directory_open_own(path, &self->directory, error);
  if (status) return status;
  td_chunk_header schema;
  uint64_t begin = sizeof(td_tape_header);
  status = look_for_gap(&self->directory, begin, &schema, error);
  if (status) {
    td_keeper_file_close(self);
    return status;
  }
  self->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (self->fd < 0) {
    int failure = errno;
    td_keeper_file_close(self);
    return td_error_set(error, TD_IO, "%s", strerror(failure));
  }
  self->gap = self->next = begin + bytes_of(&schema);
  self->room = self->keyframe = self->keyframe_end = self->directory.gap + sizeof schema;
  self->directory.decoder.start_ticks = 0;
  self->directory.decoder.ns_per_tick = UINT64_C(1) << 32;
  return TD_OK;
}

void
td_keeper_file_close(td_keeper_file *self) {
  td_directory_close(&self->directory);
  if (self->fd >= 0) close(self->fd);
  free(self->chunks);
  *self = (td_keeper_file){.directory.file.fd = -1, .fd = -1};
}

static void
look_at_size(td_tape_file *file) {
  struct stat info;
  if (fstat(file->fd, &info) == 0) file->n_bytes = (size_t)info.st_size;
}

uint64_t
td_keeper_chunk_bytes(const td_keeper_chunk *chunk) {
  return bytes_of(&chunk->header);
}

uint64_t
td_keeper_file_chunk_bytes(const td_keeper_file *self) {
  uint64_t n = 0;
  for (size_t i = 0; i < self->n_chunks; i++)
    n += bytes_of(&self->chunks[i].header);
  return n;
}

bool
td_keeper_file_is_early(const td_keeper_file *self, const td_keeper_chunk *chunk) {
  return chunk->offset < self->directory.gap;
}

/* A gap that lies leads nowhere. */
static uint64_t
offset_behind(uint64_t offset, const td_chunk_header *header) {
  uint64_t behind = offset + bytes_of(header);
  return header->kind == TD_CHUNK_GAP ? TD_MAX(behind, td_gap_of(header).next) : behind;
}

const td_keeper_chunk *
td_keeper_file_next(td_keeper_file *self) {
  td_keeper_chunk found;
  look_at_size(&self->directory.file);
  do {
    found.offset = self->next;
    if (!td_tape_file_header(&self->directory.file, self->next, &found.header)) return NULL;
    self->next = offset_behind(found.offset, &found.header);
    self->is_complete |= found.header.kind == TD_CHUNK_INDEX;
  } while (found.header.kind != TD_CHUNK_EVENTS);
  TD_GROW(self->chunks, self->n_chunks, self->capacity);
  self->chunks[self->n_chunks++] = found;
  self->n_bytes += bytes_of(&found.header);
  self->n_moved += td_keeper_file_is_early(self, &found);
  self->last = found.header;
  return &self->chunks[self->n_chunks - 1];
}

static int
write_gap(int fd, uint64_t offset, const td_gap *gap) {
  td_chunk_header header;
  td_gap_init(&header, gap);
  return td_write_at(fd, &header, sizeof header, offset);
}

/* The whole blocks between two offsets become a hole, and the rest of them zeros. */
static int
make_hole(int fd, uint64_t begin, uint64_t end) {
  if (begin >= end) return 0;
  int made =
      fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin, (off_t)(end - begin));
  return made ? errno : 0;
}

static uint64_t
first_kept(const td_keeper_file *self, size_t n) {
  return n < self->n_chunks ? self->chunks[n].offset : self->next;
}

static void
free_garbage(td_keeper_file *self) {
  if (!self->has_garbage) return;
  make_hole(self->fd, self->room, self->keyframe);
  make_hole(self->fd, self->keyframe_end, first_kept(self, self->n_moved));
  self->has_garbage = false;
}

/* Where n_bytes fit: 0 if nowhere. */
static uint64_t
find_room(const td_keeper_file *self, size_t n_bytes) {
  if (self->keyframe - self->room >= n_bytes) return self->room;
  return first_kept(self, self->n_moved) - self->keyframe_end >= n_bytes ? self->keyframe_end : 0;
}

/* The piece first, then what leads to it. */
static int
write_piece(const td_keeper_file *self, uint64_t at, uint64_t behind,
            const td_keeper_piece *piece) {
  const td_gap out = {.next = behind};
  const td_gap in = {at, piece->start_ticks, piece->start_monotonic_ns};
  size_t n = piece->bytes.n;
  int failure = td_write_at(self->fd, piece->bytes.bytes, n, at);
  if (!failure) failure = write_gap(self->fd, at + n, &out);
  if (failure) make_hole(self->fd, at, at + n + sizeof(td_chunk_header));
  return failure ? failure : write_gap(self->fd, self->gap, &in);
}

static void
replace_chunks(td_keeper_file *self, size_t n, const td_keeper_piece *piece) {
  size_t n_after = self->n_chunks - n, n_moved = piece->n_moved;
  td_keeper_chunk *chunks = TD_NEW_N(td_keeper_chunk, n_after + n_moved);
  self->n_bytes = piece->bytes.n;
  for (size_t i = 0; i < n_moved; i++) {
    chunks[i] = piece->moved[i];
    chunks[i].offset += self->keyframe;
  }
  for (size_t i = 0; i < n_after; i++) {
    chunks[n_moved + i] = self->chunks[n + i];
    self->n_bytes += bytes_of(&self->chunks[n + i].header);
  }
  free(self->chunks);
  self->chunks = chunks;
  self->n_chunks = self->capacity = n_after + n_moved;
  self->n_moved = n_moved;
}

td_status
td_keeper_file_replace(td_keeper_file *self, size_t n, const td_keeper_piece *piece,
                       td_error *error) {
  free_garbage(self);
  size_t size = piece->bytes.n + sizeof(td_chunk_header);
  uint64_t at = find_room(self, size);
  if (!at) return td_error_set(error, TD_IO, "what lives takes %zu bytes, which is too much", size);
  int failure = write_piece(self, at, first_kept(self, n), piece);
  if (failure) return td_error_set(error, TD_IO, "%s", strerror(failure));
  self->room = self->gap + sizeof(td_chunk_header); /* early chunks are garbage now */
  self->keyframe = at;
  self->keyframe_end = at + size;
  self->has_garbage = true;
  replace_chunks(self, n, piece);
  return TD_OK;
}

int
td_keeper_file_can_free(const char *folder) {
  char *path = td_format("%s/.tapedeck-XXXXXX", folder);
  int fd = mkostemp(path, O_CLOEXEC), failure = fd < 0 ? errno : 0;
  if (!failure) {
    unlink(path);
    failure = td_write_at(fd, "", 1, 1 << 16);
    if (!failure) failure = make_hole(fd, 0, 1 << 16);
    close(fd);
  }
  free(path);
  return failure;
}
