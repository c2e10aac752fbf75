/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/writer.h"

#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/base/opened.h"
#include "engine/base/own_file.h"
#include "engine/base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZSTD_STATIC_LINKING_ONLY /* a context in memory of ours */
#include <zstd.h>

/* Level 1 keeps up with a busy engine; higher ones gain a tenth in size and cost three times as
 * much. */
#define COMPRESSION_LEVEL 1
#define OFFSETS_AT_FIRST 4096

struct td_writer {
  td_own_file file;
  int failure; /* errno of the first failed write, or 0 */
  char *path;  /* (owned) absolute, to remove the file if nothing useful is in it; or NULL */
  bool has_events;
  bool made; /* of events that bear nanoseconds since the start: no clock is read */
  uint64_t start_monotonic_ns; /* of a made tape */
  bool copies;
  td_chunk_header last; /* copied: the moment by both clocks stays the last one */
  bool has_gap;
  uint64_t offset;
  ZSTD_CCtx *zstd;  /* in zstd_pages */
  void *zstd_pages; /* (owned) all that zstd ever needs */
  size_t zstd_bytes;
  unsigned char *stored; /* (owned pages) room for a compressed chunk */
  size_t stored_capacity;
  uint64_t *offsets; /* (owned pages) of all chunks; with a gap none: somebody moves them */
  size_t n_chunks, chunks_capacity;
};

/* Opens the tape again if the program has closed its descriptor. */
static bool
has_file(td_writer *writer) {
  if (td_own_file_is_there(&writer->file)) return true;
  int fd = writer->path ? open(writer->path, O_WRONLY | O_CLOEXEC) : -1;
  td_own_file found = td_own_file_init(fd);
  bool is_ours = fd >= 0 && found.device == writer->file.device &&
                 found.number == writer->file.number &&
                 lseek(fd, (off_t)writer->offset, SEEK_SET) >= 0;
  if (is_ours)
    writer->file = found;
  else
    td_own_file_close(&found);
  return is_ours;
}

static void
write_bytes(td_writer *writer, const void *bytes, size_t n_bytes) {
  const char *at = bytes;
  if (!writer->failure && !has_file(writer)) writer->failure = EBADF;
  while (n_bytes > 0 && !writer->failure) {
    ssize_t n = write(writer->file.fd, at, n_bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      writer->failure = n < 0 ? errno : ENOSPC;
      return;
    }
    at += n;
    n_bytes -= (size_t)n;
    writer->offset += (uint64_t)n;
  }
}

static void
note_offset(td_writer *writer) {
  size_t capacity = writer->chunks_capacity;
  if (writer->has_gap) return;
  if (writer->n_chunks == capacity) {
    writer->offsets = td_pages_grow(writer->offsets, capacity * sizeof(uint64_t),
                                    2 * capacity * sizeof(uint64_t));
    writer->chunks_capacity = 2 * capacity;
  }
  writer->offsets[writer->n_chunks++] = writer->offset;
}

/* A tick of a made tape is a nanosecond: any moment but the start says so. */
static void
tell_moment(const td_writer *writer, td_chunk_header *header) {
  if (writer->copies) {
    header->clock_ticks = writer->last.clock_ticks;
    header->clock_monotonic_ns = writer->last.clock_monotonic_ns;
    return;
  }
  header->clock_ticks = writer->made ? header->last_ticks + 1 : td_clock_now();
  header->clock_monotonic_ns =
      writer->made ? writer->start_monotonic_ns + header->clock_ticks : td_clock_monotonic_ns();
}

static void
write_chunk(td_writer *writer, td_chunk_header *header, const void *raw, size_t raw_bytes) {
  size_t stored =
      ZSTD_compress2(writer->zstd, writer->stored, writer->stored_capacity, raw, raw_bytes);
  if (ZSTD_isError(stored)) {
    if (!writer->failure) writer->failure = ENOMEM;
    return;
  }
  tell_moment(writer, header);
  td_chunk_header_seal(header, raw_bytes, stored);
  note_offset(writer);
  write_bytes(writer, header, sizeof *header);
  write_bytes(writer, writer->stored, stored);
}

static void
write_header(td_writer *writer, td_tape_header header) {
  memcpy(header.magic, TD_TAPE_MAGIC, sizeof header.magic);
  header.version = TD_TAPE_VERSION;
  header.header_bytes = sizeof header;
  header.checksum = td_format_checksum(&header, offsetof(td_tape_header, checksum));
  write_bytes(writer, &header, sizeof header);
}

static void
write_schema(td_writer *writer) {
  td_encoder encoder;
  td_encoder_init(&encoder);
  td_encoder_schema(&encoder);
  write_chunk(writer, &(td_chunk_header){.kind = TD_CHUNK_SCHEMA}, encoder.bytes, encoder.n_bytes);
  td_encoder_fini(&encoder);
}

static td_writer *
writer_new(int fd) {
  td_writer *writer = TD_NEW(td_writer);
  writer->file = td_own_file_init(fd);
  writer->stored_capacity = ZSTD_compressBound(TD_CHUNK_RAW_MAX);
  writer->stored = td_pages_new(writer->stored_capacity);
  writer->chunks_capacity = OFFSETS_AT_FIRST;
  writer->offsets = td_pages_new(OFFSETS_AT_FIRST * sizeof(uint64_t));
  writer->zstd_bytes = ZSTD_estimateCCtxSize(COMPRESSION_LEVEL);
  writer->zstd_pages = td_pages_new(writer->zstd_bytes);
  writer->zstd = ZSTD_initStaticCCtx(writer->zstd_pages, writer->zstd_bytes);
  ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
  ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
  return writer;
}

static void
writer_free(td_writer *writer) {
  td_pages_free(writer->zstd_pages, writer->zstd_bytes);
  td_pages_free(writer->stored, writer->stored_capacity);
  td_pages_free(writer->offsets, writer->chunks_capacity * sizeof(uint64_t));
  free(writer->path);
  free(writer);
}

static td_status
create_file(const char *path, mode_t mode, int *fd, td_error *error) {
  *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (*fd >= 0) return TD_OK;
  return td_error_set(error, TD_IO, "%s", errno == EEXIST ? "exists already" : strerror(errno));
}

/* Whoever has the old tape open keeps it: the new one is a file of its own, where the folder allows
 * that. */
static td_status
replace_regular_file(const char *path, mode_t mode, int *fd, td_error *error) {
  const char *problem = NULL;
  if (flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    problem = "is being recorded by another program";
  else if (unlink(path) != 0) {
    if (ftruncate(*fd, 0) == 0) return TD_OK;
    problem = strerror(errno);
  }
  close(*fd);
  return problem ? td_error_set(error, TD_IO, "%s", problem) : create_file(path, mode, fd, error);
}

static td_status
replace_file(const char *path, int *fd, td_error *error) {
  *fd = open(path, O_WRONLY | O_CLOEXEC);
  if (*fd < 0 && errno == ENOENT) {
    unlink(path); /* a link to nothing */
    return create_file(path, 0666, fd, error);
  }
  if (*fd < 0) return td_error_set(error, TD_IO, "%s", strerror(errno));
  struct stat info;
  if (fstat(*fd, &info) != 0 || !S_ISREG(info.st_mode)) return TD_OK;
  char *target = realpath(path, NULL); /* a link stays one */
  td_status status = replace_regular_file(target ? target : path, info.st_mode & 0777, fd, error);
  free(target);
  return status;
}

/* Whose moments the chunks of a file bear. */
typedef enum clocks { OWN_CLOCKS, MADE_CLOCKS, COPIED_CLOCKS } clocks;

static td_status
open_file(int fd, const char *path, clocks clocks, const td_tape_header *header, td_writer **writer,
          td_error *error) {
  td_writer *opened = writer_new(fd);
  opened->path = path ? realpath(path, NULL) : NULL;
  opened->made = clocks == MADE_CLOCKS;
  opened->copies = clocks == COPIED_CLOCKS;
  opened->start_monotonic_ns = header->start_monotonic_ns;
  write_header(opened, *header);
  write_schema(opened);
  if (opened->failure) return td_writer_close(opened, error);
  *writer = opened;
  return TD_OK;
}

static td_status
open_with(const char *path, bool overwrite, clocks clocks, const td_tape_header *header,
          td_writer **writer, td_error *error) {
  int fd = td_opened_dup(path);
  td_status status = TD_OK;
  if (fd < 0)
    status = overwrite ? replace_file(path, &fd, error) : create_file(path, 0666, &fd, error);
  if (status) return status;
  flock(fd, LOCK_EX | LOCK_NB); /* for replace_file in another process; some files have no locks */
  return open_file(fd, path, clocks, header, writer, error);
}

td_status
td_writer_open(const char *path, bool overwrite, uint32_t policy, bool raw, td_writer **writer,
               td_error *error) {
  td_tape_header header = {.start_ticks = td_clock_now(),
                           .start_monotonic_ns = td_clock_monotonic_ns(),
                           .start_wall_ns = td_clock_timespec_ns(CLOCK_REALTIME),
                           .policy = policy,
                           .flags = raw ? TD_TAPE_RAW : 0};
  return open_with(path, overwrite, OWN_CLOCKS, &header, writer, error);
}

td_status
td_writer_open_made(const char *path, bool overwrite, uint32_t policy, uint64_t started_ns,
                    td_writer **writer, td_error *error) {
  td_tape_header header = {.start_wall_ns = started_ns, .policy = policy};
  return open_with(path, overwrite, MADE_CLOCKS, &header, writer, error);
}

td_status
td_writer_open_derived(int fd, const td_tape_header *of, td_writer **writer, td_error *error) {
  td_tape_header header = {.start_monotonic_ns = of->start_monotonic_ns,
                           .start_wall_ns = of->start_wall_ns,
                           .policy = of->policy};
  return open_file(fd, NULL, MADE_CLOCKS, &header, writer, error);
}

td_status
td_writer_open_copy(const char *path, bool overwrite, const td_tape_header *header,
                    td_writer **writer, td_error *error) {
  return open_with(path, overwrite, COPIED_CLOCKS, header, writer, error);
}

void
td_writer_copy(td_writer *writer, const td_chunk_header *header, const void *stored) {
  note_offset(writer);
  write_bytes(writer, header, sizeof *header);
  write_bytes(writer, stored, header->stored_bytes);
  writer->last = *header;
  writer->has_events = writer->has_events || (header->n_events && !writer->failure);
}

int
td_writer_reserve(td_writer *writer, uint64_t n_bytes) {
  int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE; /* behind the end, so it changes nothing */
  if (fallocate(writer->file.fd, how, (off_t)writer->offset, (off_t)n_bytes)) return errno;
  td_gap gap = {.next = writer->offset + sizeof(td_chunk_header) + n_bytes};
  td_chunk_header header;
  td_gap_init(&header, &gap);
  write_bytes(writer, &header, sizeof header);
  writer->has_gap = true;
  writer->n_chunks = 0;
  if (writer->failure) return 0;
  if (lseek(writer->file.fd, (off_t)gap.next, SEEK_SET) >= 0)
    writer->offset = gap.next;
  else
    writer->failure = errno;
  return 0;
}

void
td_writer_events(td_writer *writer, const td_encoder *encoder, uint32_t thread,
                 uint64_t first_number) {
  td_chunk_header header = {
      .kind = TD_CHUNK_EVENTS,
      .thread = thread,
      .n_events = encoder->n_events,
      .first_ticks = encoder->first_ticks,
      .last_ticks = encoder->last_ticks,
      .first_number = first_number,
  };
  if (writer->failure) return;
  write_chunk(writer, &header, encoder->bytes, encoder->n_bytes);
  writer->has_events = writer->has_events || !writer->failure;
}

/* The index is written in pieces that fit into a chunk; the trailer names the first. */
static void
write_index(td_writer *writer) {
  size_t n_chunks = writer->n_chunks, per_piece = TD_CHUNK_RAW_MAX / sizeof(uint64_t);
  td_trailer trailer = {.index_offset = writer->offset, .magic = TD_TRAILER_MAGIC};
  size_t first = 0;
  do {
    size_t n = TD_MIN(per_piece, n_chunks - first);
    td_chunk_header header = {.kind = TD_CHUNK_INDEX};
    write_chunk(writer, &header, writer->offsets + first, n * sizeof(uint64_t));
    first += n;
  } while (first < n_chunks);
  write_bytes(writer, &trailer, sizeof trailer);
}

/* Nobody else's file: the name may lead to another by now. */
static void
remove_useless(const td_writer *writer) {
  struct stat named;
  if (!writer->failure || writer->has_events || !writer->path) return;
  if (stat(writer->path, &named) == 0 && S_ISREG(named.st_mode) &&
      writer->file.device == named.st_dev && writer->file.number == named.st_ino)
    unlink(writer->path);
}

static void
close_file(td_writer *writer) {
  remove_useless(writer);
  int failure = td_own_file_close(&writer->file);
  if (!writer->failure) writer->failure = failure;
}

void
td_writer_close_dying(td_writer *writer) {
  if (!writer->failure) write_index(writer);
  close_file(writer);
}

td_status
td_writer_cut(td_writer *writer, td_error *error) {
  close_file(writer);
  td_status status = TD_OK;
  if (writer->failure)
    status =
        td_error_set(error, TD_IO, "the tape could not be written: %s", strerror(writer->failure));
  writer_free(writer);
  return status;
}

td_status
td_writer_close(td_writer *writer, td_error *error) {
  if (!writer->failure) write_index(writer);
  return td_writer_cut(writer, error);
}

void
td_writer_leave(const td_writer *writer) {
  td_own_file_close(&writer->file);
}

void
td_writer_abandon(td_writer *writer) {
  td_own_file_close(&writer->file);
  writer_free(writer);
}
