/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/tape_end.h"

#include "engine/base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void
note_chunk(td_tape_end *end, uint64_t offset) {
  TD_GROW(end->chunks, end->n_chunks, end->capacity);
  end->chunks[end->n_chunks++] = offset;
}

bool
td_tape_end_init(td_tape_end *end, td_directory *directory) {
  td_chunk_header header;
  uint64_t offset = sizeof(td_tape_header);
  *end = (td_tape_end){.was_cut_off = !directory->complete};
  while (td_tape_file_header(&directory->file, offset, &header)) {
    bool is_end = header.kind == TD_CHUNK_TABLE || header.kind == TD_CHUNK_INDEX;
    if (!is_end) note_chunk(end, offset);
    if (!is_end) end->offset = offset + sizeof header + header.stored_bytes;
    end->last = header;
    offset += sizeof header + header.stored_bytes;
  }
  return end->n_chunks > 0 && !directory->file.failure;
}

void
td_tape_end_fini(td_tape_end *end) {
  free(end->chunks);
  td_chunk_bytes_fini(&end->out);
}

td_chunk_header
td_tape_end_begin_chunk(td_tape_end *end, td_chunk_kind kind) {
  if (kind != TD_CHUNK_INDEX) note_chunk(end, end->offset + end->out.n);
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

/* Room comes first: a full disk leaves the tape as it is, but for zeros behind its end. */
static int
write_end(int fd, const td_tape_end *end, size_t n_before) {
  struct rlimit most;
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && end->offset + end->out.n > most.rlim_cur) return EFBIG;
  int failure = posix_fallocate(fd, (off_t)end->offset, (off_t)end->out.n);
  if (failure) {
    int cut = ftruncate(fd, (off_t)n_before);
    return cut ? errno : failure;
  }
  for (size_t done = 0; done < end->out.n;) {
    ssize_t n = pwrite(fd, end->out.bytes + done, end->out.n - done, (off_t)(end->offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    done += (size_t)n;
  }
  return ftruncate(fd, (off_t)(end->offset + end->out.n)) ? errno : 0;
}

/* The file that was read, and nobody else's. */
static td_status
write_same_file(const char *path, const td_tape_file *read, const td_tape_end *end,
                td_error *error) {
  struct stat before, now;
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK), failure = fd < 0 ? errno : 0;
  bool same = !failure && fstat(read->fd, &before) == 0 && fstat(fd, &now) == 0 &&
              before.st_dev == now.st_dev && before.st_ino == now.st_ino &&
              (size_t)now.st_size == read->n_bytes && flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (same) failure = write_end(fd, end, read->n_bytes);
  if (fd >= 0 && close(fd) != 0 && !failure) failure = errno;
  return failure ? td_error_set(error, TD_IO, "%s", strerror(failure)) : TD_OK;
}

td_status
td_tape_end_replace(td_tape_end *end, const char *path, const td_directory *directory,
                    td_error *error) {
  td_trailer trailer = {.index_offset = end->offset + end->out.n, .magic = TD_TRAILER_MAGIC};
  if (end->was_cut_off) memcpy(trailer.magic, TD_TRAILER_MAGIC_CUT_OFF, sizeof trailer.magic);
  if (!td_tape_end_put(end, TD_CHUNK_INDEX, end->chunks, end->n_chunks * sizeof *end->chunks))
    return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the end of the tape");
  td_chunk_bytes_put(&end->out, &trailer, sizeof trailer);
  uint64_t n_bytes = end->offset + end->out.n;
  if (!td_directory_allows(directory, n_bytes, directory->raw_bytes + end->out.raw_bytes))
    return TD_OK;
  return write_same_file(path, &directory->file, end, error);
}
