/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of contents takes the place of the index and the trailer, and they follow it again. */
#include "engine/base/alloc.h"
#include "engine/trace/chunk_bytes.h"
#include "engine/trace/contents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The end of a tape, as it will be written. */
typedef struct tape_end {
  uint64_t offset;  /* in the file: where the index begins today */
  uint64_t *chunks; /* (owned) offsets of all chunks before the new index */
  size_t n_chunks, chunks_capacity;
  td_chunk_header last; /* of the tape: its moment by both clocks stays the last one */
  td_chunk_bytes out;
} tape_end;

static void
put(td_chunk_bytes *self, uint64_t value) {
  unsigned char *at = td_chunk_bytes_room(self, TD_VARINT_MAX);
  self->n += (size_t)(td_varint_put(at, value) - at);
}

/* How many events of each kind a chunk has. */
static td_status
put_chunk(td_chunk_bytes *table, td_directory *directory, uint32_t thread, uint32_t chunk,
          td_decoded *decoded, td_error *error) {
  uint32_t n_by_kind[TD_EVENT_LIMIT] = {0}, n_kinds = 0;
  td_status status = td_directory_load(directory, thread, chunk, decoded, error);
  if (status) return status;
  for (uint32_t i = 0; i < decoded->n_events; i++)
    n_kinds += n_by_kind[td_decoded_get(decoded, i)->kind]++ == 0;
  put(table, n_kinds);
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    if (!n_by_kind[kind]) continue;
    put(table, kind);
    put(table, n_by_kind[kind]);
  }
  return TD_OK;
}

static td_status
put_threads(td_chunk_bytes *table, td_directory *directory, td_error *error) {
  td_decoded decoded = {0};
  td_status status = TD_OK;
  put(table, directory->n_threads);
  for (uint32_t t = 0; t < directory->n_threads; t++) {
    put(table, directory->threads[t].n_chunks);
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
    put(table, place->ns - ns);
    put(table, place->thread);
    put(table, place->chunk);
    put(table, place->number);
    ns = place->ns;
  }
  put(table, contents->n_dropped);
  for (uint32_t i = 0; i < contents->n_strings; i++)
    n_strings += contents->strings[i] != NULL;
  put(table, n_strings);
  for (uint32_t i = 0; i < contents->n_strings; i++) {
    if (!contents->strings[i]) continue;
    size_t length = strlen(contents->strings[i]);
    put(table, i - id);
    put(table, length);
    td_chunk_bytes_put(table, contents->strings[i], length);
    id = i;
  }
  put(table, contents->n_known);
  for (size_t i = 0; i < contents->n_known; i++) {
    put(table, contents->known[i].kind);
    put(table, contents->known[i].how);
  }
}

static bool
put_pieces(tape_end *end, td_chunk_kind kind, const void *raw, size_t n_raw) {
  bool fits = true;
  for (size_t at = 0; at < n_raw && fits; at += TD_CHUNK_RAW_MAX) {
    if (kind != TD_CHUNK_INDEX) {
      TD_GROW(end->chunks, end->n_chunks, end->chunks_capacity);
      end->chunks[end->n_chunks++] = end->offset + end->out.n;
    }
    td_chunk_header header = {.kind = kind,
                              .clock_ticks = end->last.clock_ticks,
                              .clock_monotonic_ns = end->last.clock_monotonic_ns};
    fits = td_chunk_bytes_put_chunk(&end->out, &header, (const char *)raw + at,
                                    TD_MIN(n_raw - at, (size_t)TD_CHUNK_RAW_MAX));
  }
  return fits;
}

/* Lists the chunks before the index. */
static bool
find_end(tape_end *end, td_tape_file *file) {
  td_trailer trailer;
  uint64_t stop = file->n_bytes - sizeof trailer;
  if (!td_tape_file_read(file, stop, &trailer, sizeof trailer)) return false;
  end->offset = trailer.index_offset;
  for (uint64_t offset = sizeof(td_tape_header); offset < stop;) {
    if (!td_tape_file_header(file, offset, &end->last)) return false;
    if (offset < end->offset) {
      TD_GROW(end->chunks, end->n_chunks, end->chunks_capacity);
      end->chunks[end->n_chunks++] = offset;
    }
    offset += sizeof end->last + end->last.stored_bytes;
  }
  return true;
}

static td_status
make_end(tape_end *end, td_directory *directory, const td_contents *contents, td_error *error) {
  td_chunk_bytes table = {0};
  td_status status = put_threads(&table, directory, error);
  if (!status) put_contents(&table, contents);
  bool is_made = !status && find_end(end, &directory->file) &&
                 put_pieces(end, TD_CHUNK_TABLE, table.bytes, table.n);
  td_trailer trailer = {.index_offset = end->offset + end->out.n, .magic = TD_TRAILER_MAGIC};
  is_made =
      is_made && put_pieces(end, TD_CHUNK_INDEX, end->chunks, end->n_chunks * sizeof *end->chunks);
  td_chunk_bytes_put(&end->out, &trailer, sizeof trailer);
  td_chunk_bytes_fini(&table);
  if (is_made || status) return status;
  return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for a table of contents");
}

/* Room comes first: a full disk leaves the tape as it is, but for zeros behind its end. */
static int
write_end(int fd, const tape_end *end, size_t n_before) {
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
replace_end(const char *path, const td_tape_file *read, const tape_end *end, td_error *error) {
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
td_contents_add(const char *path, td_error *error) {
  td_directory directory;
  td_status status = td_directory_open(path, &directory, error);
  if (status) return status;
  td_contents contents = {0};
  td_merge merge;
  bool wanted =
      directory.complete && !directory.damage && !directory.gap && directory.n_pieces == 0;
  if (wanted) {
    td_merge_init(&merge, &directory);
    td_contents_scan(&contents, &merge);
    td_merge_fini(&merge);
    wanted = !directory.damage && !directory.out_of_memory && contents.n_unknown == 0;
  }
  tape_end end = {0};
  if (wanted) status = make_end(&end, &directory, &contents, error);
  uint64_t n_bytes = end.offset + end.out.n, raw_bytes = directory.raw_bytes + end.out.raw_bytes;
  wanted = wanted && td_directory_allows(&directory, n_bytes, raw_bytes);
  if (wanted && !status) status = replace_end(path, &directory.file, &end, error);
  free(end.chunks);
  td_chunk_bytes_fini(&end.out);
  td_contents_fini(&contents);
  td_directory_close(&directory);
  return status;
}
