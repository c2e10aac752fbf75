/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/tape_file.h"

#include "engine/base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

_Static_assert(TD_CHUNK_STORED_MAX == ZSTD_COMPRESSBOUND(TD_CHUNK_RAW_MAX),
               "what a chunk becomes at most");

td_status
td_tape_file_open(const char *path, td_tape_file *file, td_error *error) {
  /* Without O_NONBLOCK, a pipe that nobody writes to would hang. */
  return td_tape_file_adopt(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), file, error);
}

td_status
td_tape_file_adopt(int fd, td_tape_file *file, td_error *error) {
  *file = (td_tape_file){.fd = fd};
  if (file->fd < 0) return td_error_set(error, TD_IO, "%s", strerror(errno));
  struct stat info;
  if (fstat(file->fd, &info) != 0) return td_error_set(error, TD_IO, "%s", strerror(errno));
  if (S_ISDIR(info.st_mode)) return td_error_set(error, TD_IO, "is a directory");
  if (!S_ISREG(info.st_mode))
    return td_error_set(error, TD_NOT_A_TAPE, "not a tape: not a regular file");
  if ((size_t)info.st_size < sizeof(td_tape_header))
    return td_error_set(error, TD_NOT_A_TAPE, "not a tape: too short for a header");
  file->n_bytes = (size_t)info.st_size;
  file->written = info.st_mtim;
  file->zstd = ZSTD_createDCtx();
  return file->zstd ? TD_OK : td_error_set(error, TD_OUT_OF_MEMORY, "out of memory");
}

void
td_tape_file_close(td_tape_file *file) {
  if (file->fd >= 0) close(file->fd);
  ZSTD_freeDCtx(file->zstd);
  free(file->stored);
  free(file->raw);
  *file = (td_tape_file){.fd = -1};
}

bool
td_tape_file_read(td_tape_file *file, uint64_t offset, void *bytes, size_t n) {
  for (size_t done = 0; done < n;) {
    ssize_t got = pread(file->fd, (char *)bytes + done, n - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && !file->failure) file->failure = errno;
    if (got <= 0) return false;
    done += (size_t)got;
  }
  return true;
}

td_status
td_tape_file_check(const td_tape_file *file, td_error *error) {
  return file->failure ? td_error_set(error, TD_IO, "%s", strerror(file->failure)) : TD_OK;
}

bool
td_tape_file_header(td_tape_file *file, uint64_t offset, td_chunk_header *header) {
  if (offset > file->n_bytes || file->n_bytes - offset < sizeof *header) return false;
  return td_tape_file_read(file, offset, header, sizeof *header) &&
         header->magic == TD_CHUNK_MAGIC &&
         header->checksum == td_format_checksum(header, offsetof(td_chunk_header, checksum)) &&
         td_chunk_header_fits(header, file->n_bytes - offset - sizeof *header);
}

bool
td_tape_file_has_changed(const td_tape_file *file) {
  struct stat now;
  return fstat(file->fd, &now) == 0 &&
         ((size_t)now.st_size != file->n_bytes || now.st_mtim.tv_sec != file->written.tv_sec ||
          now.st_mtim.tv_nsec != file->written.tv_nsec);
}

uint64_t
td_tape_file_find(td_tape_file *file, uint64_t offset) {
  const uint32_t magic = TD_CHUNK_MAGIC;
  const size_t piece = 65536;
  td_chunk_header header;
  unsigned char *bytes = TD_NEW_N(unsigned char, piece);
  uint64_t found = file->n_bytes;
  while (offset + sizeof header <= file->n_bytes && found == file->n_bytes) {
    size_t n = TD_MIN(piece, file->n_bytes - offset);
    if (!td_tape_file_read(file, offset, bytes, n)) break;
    const unsigned char *at = memmem(bytes, n, &magic, sizeof magic);
    uint64_t next = at ? offset + (uint64_t)(at - bytes) : offset + n - sizeof magic + 1;
    if (at && td_tape_file_header(file, next, &header)) found = next;
    offset = at ? next + 1 : next;
  }
  free(bytes);
  return found;
}

uint32_t
td_tape_file_checksum(td_tape_file *file, uint64_t offset, const td_chunk_header *header) {
  uint32_t checksum = 0;
  uint64_t end = offset + sizeof *header + header->stored_bytes;
  if (header->stored_bytes >= sizeof checksum)
    td_tape_file_read(file, end - sizeof checksum, &checksum, sizeof checksum);
  return checksum;
}

static bool
reserve(unsigned char **bytes, size_t *capacity, size_t n) {
  if (*bytes && n <= *capacity) return true;
  free(*bytes);
  *bytes = malloc(TD_MAX(n, (size_t)1));
  *capacity = *bytes ? n : 0;
  return *bytes != NULL;
}

td_status
td_tape_file_contents(td_tape_file *file, uint64_t offset, const td_chunk_header *header,
                      uint32_t *checksum, td_error *error) {
  size_t n = header->stored_bytes;
  if (!reserve(&file->stored, &file->stored_capacity, n) ||
      !reserve(&file->raw, &file->raw_capacity, header->raw_bytes))
    return td_error_set(error, TD_OUT_OF_MEMORY, "out of memory");
  bool read = td_tape_file_read(file, offset + sizeof *header, file->stored, n);
  *checksum = 0;
  if (read && n >= sizeof *checksum)
    memcpy(checksum, file->stored + n - sizeof *checksum, sizeof *checksum);
  if (read && ZSTD_decompressDCtx(file->zstd, file->raw, header->raw_bytes, file->stored, n) ==
                  header->raw_bytes)
    return TD_OK;
  return td_error_set(error, TD_DAMAGED, "the chunk at byte %" PRIu64 " is damaged", offset);
}
