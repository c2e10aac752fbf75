/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/tape_end.h"

#include "engine/base/alloc.h"
#include "engine/base/opened.h"
#include "engine/trace/write_at.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
is_of_end(const td_chunk_header *header) {
  return header->kind == TD_CHUNK_TABLE || header->kind == TD_CHUNK_INDEX ||
         header->kind == TD_CHUNK_LIST;
}

bool
td_tape_end_init(td_tape_end *end, td_directory *directory) {
  td_chunk_header header;
  uint64_t offset = sizeof(td_tape_header);
  *end = (td_tape_end){.was_cut_off = !directory->complete};
  while (td_tape_file_header(&directory->file, offset, &header)) {
    uint32_t content = td_tape_file_checksum(&directory->file, offset, &header);
    offset += sizeof header + header.stored_bytes;
    end->last = header;
    if (is_of_end(&header)) continue;
    td_chunk_list_add(&end->chunks, &header, content);
    end->offset = offset;
  }
  return end->chunks.n > 0 && !directory->file.failure;
}

void
td_tape_end_fini(td_tape_end *end) {
  td_chunk_list_fini(&end->chunks);
  td_chunk_bytes_fini(&end->out);
}

td_chunk_header
td_tape_end_begin_chunk(const td_tape_end *end, td_chunk_kind kind) {
  return (td_chunk_header){.kind = kind,
                           .clock_ticks = end->last.clock_ticks,
                           .clock_monotonic_ns = end->last.clock_monotonic_ns};
}

bool
td_tape_end_put(td_tape_end *end, td_chunk_kind kind, const void *raw, size_t n_raw) {
  bool fits = true;
  for (size_t at = 0; at < n_raw && fits; at += TD_CHUNK_RAW_MAX) {
    td_chunk_header header = td_tape_end_begin_chunk(end, kind);
    fits = td_chunk_bytes_put_chunk(&end->out, &header, (const char *)raw + at,
                                    TD_MIN(n_raw - at, (size_t)TD_CHUNK_RAW_MAX));
  }
  return fits;
}

/* The old end comes back if the new one cannot be written. If that fails too, the tape ends behind
 * its last event, as if it were cut off. */
static int
write_or_restore(int fd, const td_tape_end *end, size_t n_before) {
  size_t n_old = n_before - end->offset;
  char *old = TD_NEW_N(char, n_old);
  bool has_old = pread(fd, old, n_old, (off_t)end->offset) == (ssize_t)n_old;
  int failure = td_write_at(fd, end->out.bytes, end->out.n, end->offset);
  uint64_t length = end->offset + end->out.n;
  if (failure)
    length = has_old && !td_write_at(fd, old, n_old, end->offset) ? n_before : end->offset;
  free(old);
  int cut = ftruncate(fd, (off_t)length);
  return failure || !cut ? failure : errno;
}

/* Room comes first: a full disk leaves the tape as it is, but for zeros behind its end. */
static int
write_end(int fd, const td_tape_end *end, size_t n_before) {
  struct rlimit most;
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && end->offset + end->out.n > most.rlim_cur) return EFBIG;
  int failure = posix_fallocate(fd, (off_t)end->offset, (off_t)end->out.n);
  if (!failure) return write_or_restore(fd, end, n_before);
  int cut = ftruncate(fd, (off_t)n_before);
  return cut ? errno : failure;
}

/* The file that was read, and nobody else's. */
static td_status
write_same_file(const char *path, const td_tape_file *read, const td_tape_end *end,
                td_error *error) {
  struct stat before, now;
  int fd = td_opened_dup(path);
  if (fd < 0) fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  int failure = fd < 0 ? errno : 0;
  bool same = !failure && fstat(read->fd, &before) == 0 && fstat(fd, &now) == 0 &&
              before.st_dev == now.st_dev && before.st_ino == now.st_ino &&
              (size_t)now.st_size == read->n_bytes && flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (same) failure = write_end(fd, end, read->n_bytes);
  if (fd >= 0 && close(fd) != 0 && !failure) failure = errno;
  return failure ? td_error_set(error, TD_IO, "%s", strerror(failure)) : TD_OK;
}

static void
note_new_chunks(td_tape_end *end) {
  td_chunk_header header;
  uint32_t content;
  for (const unsigned char *at = end->out.bytes; at < end->out.bytes + end->out.n;) {
    memcpy(&header, at, sizeof header);
    at += sizeof header + header.stored_bytes;
    memcpy(&content, at - sizeof content, sizeof content);
    td_chunk_list_add(&end->chunks, &header, content);
  }
}

static bool
put_index(td_tape_end *end) {
  uint64_t *offsets = TD_NEW_N(uint64_t, end->chunks.n), offset = sizeof(td_tape_header);
  for (size_t i = 0; i < end->chunks.n; i++) {
    const td_chunk_header *header = &end->chunks.rows[i].header;
    offsets[i] = offset;
    offset += sizeof *header + header->stored_bytes;
  }
  bool fits = td_tape_end_put(end, TD_CHUNK_INDEX, offsets, end->chunks.n * sizeof *offsets);
  free(offsets);
  return fits;
}

static bool
put_list(td_tape_end *end) {
  td_chunk_bytes raw = {0};
  td_chunk_list_encode(&end->chunks, &raw);
  bool fits = td_tape_end_put(end, TD_CHUNK_LIST, raw.bytes, raw.n);
  td_chunk_bytes_fini(&raw);
  return fits;
}

td_status
td_tape_end_replace(td_tape_end *end, const char *path, const td_directory *directory,
                    td_error *error) {
  td_trailer trailer = {.index_offset = end->offset + end->out.n, .magic = TD_TRAILER_MAGIC};
  if (end->was_cut_off) memcpy(trailer.magic, TD_TRAILER_MAGIC_CUT_OFF, sizeof trailer.magic);
  note_new_chunks(end);
  if (!put_index(end) || !put_list(end))
    return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the end of the tape");
  td_chunk_bytes_put(&end->out, &trailer, sizeof trailer);
  uint64_t n_bytes = end->offset + end->out.n;
  if (!td_directory_allows(directory, n_bytes, directory->raw_bytes + end->out.raw_bytes))
    return TD_OK;
  return write_same_file(path, &directory->file, end, error);
}
