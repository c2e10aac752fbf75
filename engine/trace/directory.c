/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/directory.h"

#include "engine/base/alloc.h"
#include "engine/trace/segment.h"

#include <inttypes.h>
#include <stdatomic.h>

/* Note [What a stranger's tape may cost]
 * A few kilobytes can claim gigabytes: a compressed run of one byte, or the id 4,000,000,000. So
 * memory and time follow the size of the file, unless the user trusts the tape (--trust):
 *
 * - The contents are at most CONTENTS_PER_BYTE times as large as the file. Recordings reach 20.
 *   What `--keep` leaves begins with the facts about living nodes: a million equal ones are 25 MB
 *   that compress 3,000 times. So CONTENTS_FREE bytes are always allowed.
 * - A thread that wrote events has a chunk. So its number lies below the number of chunks that the
 *   file can hold, and THREADS_FREE more for threads that wrote none.
 * - How many nodes and passes there are, and the ids of queues, have a limit of the same kind:
 *   engine/replay. */
#define CONTENTS_PER_BYTE 50
#define CONTENTS_FREE (UINT64_C(32) << 20)
#define THREADS_FREE (1u << 16)
#define THREADS_MAX (1u << 20) /* of a tape that is trusted */

static _Atomic bool all_are_trusted;

void
td_directory_trust_all(void) {
  atomic_store_explicit(&all_are_trusted, true, memory_order_relaxed);
}

void
td_directory_note_damage(td_directory *directory, const char *format, ...) {
  directory->cut_off = false;
  if (directory->damage) return;
  va_list args;
  va_start(args, format);
  directory->damage = td_format_v(format, args);
  va_end(args);
}

/* The end is missing: what a program leaves that was killed, or whose disk was full. */
static void
note_cut_off(td_directory *directory, char *words) {
  if (directory->damage)
    free(words);
  else
    directory->damage = words;
}

static td_status
read_header(td_directory *directory, td_error *error) {
  td_tape_header *header = &directory->header;
  if (!td_tape_file_read(&directory->file, 0, header, sizeof *header))
    return td_error_set(error, TD_IO, "its header cannot be read");
  if (memcmp(header->magic, TD_TAPE_MAGIC, sizeof header->magic) != 0)
    return td_error_set(error, TD_NOT_A_TAPE, "not a tape: it does not begin with " TD_TAPE_MAGIC);
  if (header->version != TD_TAPE_VERSION)
    return td_error_set(error, TD_UNSUPPORTED,
                        "a tape of version %u; this program reads version %u", header->version,
                        TD_TAPE_VERSION);
  if (header->checksum != td_format_checksum(header, offsetof(td_tape_header, checksum)) ||
      header->header_bytes != sizeof *header)
    return td_error_set(error, TD_DAMAGED, "the tape's header is damaged");
  return TD_OK;
}

static td_status
read_schema(td_directory *directory, uint64_t *offset, td_error *error) {
  td_chunk_header header;
  *offset = sizeof(td_tape_header);
  if (!td_tape_file_header(&directory->file, *offset, &header) || header.kind != TD_CHUNK_SCHEMA)
    return td_error_set(error, TD_DAMAGED, "its table of event kinds is missing");
  uint32_t checksum;
  td_status status = td_tape_file_contents(&directory->file, *offset, &header, &checksum, error);
  if (status) return status;
  *offset += sizeof header + header.stored_bytes;
  return td_decoder_init(&directory->decoder, directory->file.raw, header.raw_bytes, error);
}

static bool
is_possible_thread(const td_directory *directory, uint32_t thread) {
  uint64_t most = THREADS_FREE + directory->file.n_bytes / sizeof(td_chunk_header);
  return thread < (directory->trusted ? THREADS_MAX : TD_MIN(most, THREADS_MAX));
}

static td_directory_thread *
thread_of(td_directory *directory, uint32_t thread) {
  while (directory->n_threads <= thread) {
    TD_GROW(directory->threads, directory->n_threads, directory->threads_capacity);
    directory->threads[directory->n_threads++] = (td_directory_thread){0};
  }
  return &directory->threads[thread];
}

static td_directory_chunk
chunk_of(uint64_t offset, const td_chunk_row *row, bool is_listed) {
  const td_chunk_header *header = &row->header;
  return (td_directory_chunk){
      .offset = offset,
      .checksum = header->checksum,
      .content = row->content,
      .is_listed = is_listed,
      .first_ns = header->first_ticks, /* ticks until the clock is known */
      .last_ns = header->last_ticks,
      .n_events = header->n_events,
  };
}

static void
add_chunk(td_directory *directory, const td_chunk_header *header, const td_directory_chunk *chunk) {
  if (!is_possible_thread(directory, header->thread) || header->last_ticks < header->first_ticks) {
    td_directory_note_damage(directory, "the chunk at byte %" PRIu64 " makes no sense",
                             chunk->offset);
    return;
  }
  td_directory_thread *thread = thread_of(directory, header->thread);
  if (directory->gap && thread->n_chunks == 0) thread->next_number = header->first_number;
  if (header->first_number != thread->next_number || header->first_ticks < thread->last_ticks)
    td_directory_note_damage(directory,
                             "events %" PRIu64 " to %" PRIu64 " of thread %u are missing",
                             thread->next_number, header->first_number, header->thread);
  if (header->first_ticks < thread->last_ticks) return;
  thread->next_number = header->first_number + header->n_events;
  thread->last_ticks = header->last_ticks;
  TD_GROW(thread->chunks, thread->n_chunks, thread->capacity);
  thread->chunks[thread->n_chunks++] = *chunk;
  directory->n_chunks++;
}

static void
add_keyframe(td_directory *directory, const td_chunk_header *header,
             const td_directory_chunk *chunk) {
  if (header->thread == TD_SEGMENT_WHOLE) return; /* a lie: the whole tape needs none */
  TD_GROW(directory->keyframes, directory->n_keyframes, directory->keyframes_capacity);
  directory->keyframes[directory->n_keyframes++] = (td_directory_keyframe){*chunk, header->thread};
}

/* Two moments by both clocks give the rate. A recording shorter than a chunk's clock can tell has
 * ticks of 1 ns. */
static void
calibrate(td_directory *directory, uint64_t ticks, uint64_t monotonic_ns) {
  uint64_t n_ticks = ticks - directory->header.start_ticks;
  uint64_t n_ns = monotonic_ns - directory->header.start_monotonic_ns;
  bool sane = ticks > directory->header.start_ticks && n_ns > 0 && n_ns < (UINT64_C(1) << 62);
  double rate = sane ? (double)n_ns / (double)n_ticks : 1.0;
  if (rate <= 1e-6 || rate > 1e6) rate = 1.0;
  directory->decoder.start_ticks = directory->header.start_ticks;
  directory->decoder.ns_per_tick = (uint64_t)(rate * 4294967296.0);
  for (uint32_t t = 0; t < directory->n_threads; t++)
    for (uint32_t c = 0; c < directory->threads[t].n_chunks; c++) {
      td_directory_chunk *chunk = &directory->threads[t].chunks[c];
      uint64_t start = directory->header.start_ticks;
      chunk->first_ns = td_decoder_ns(&directory->decoder, TD_MAX(chunk->first_ns, start) - start);
      chunk->last_ns = td_decoder_ns(&directory->decoder, TD_MAX(chunk->last_ns, start) - start);
    }
}

static void
find_end(td_directory *directory) {
  td_trailer trailer = {0};
  td_tape_file *file = &directory->file;
  if (file->n_bytes < sizeof trailer ||
      !td_tape_file_read(file, file->n_bytes - sizeof trailer, &trailer, sizeof trailer))
    return;
  td_chunk_header header;
  bool was_ended = memcmp(trailer.magic, TD_TRAILER_MAGIC, sizeof trailer.magic) == 0;
  bool is_trailer =
      was_ended || memcmp(trailer.magic, TD_TRAILER_MAGIC_CUT_OFF, sizeof trailer.magic) == 0;
  directory->has_end = is_trailer && td_tape_file_header(file, trailer.index_offset, &header) &&
                       header.kind == TD_CHUNK_INDEX;
  directory->complete = directory->has_end && was_ended;
  if (directory->has_end) td_chunk_list_load(&directory->list, file, trailer.index_offset);
}

static void
note_unreadable(td_directory *directory, uint64_t offset, uint64_t end) {
  char *words =
      td_format("%" PRIu64 " bytes from byte %" PRIu64 " cannot be read", end - offset, offset);
  if (end == directory->file.n_bytes)
    note_cut_off(directory, words);
  else {
    td_directory_note_damage(directory, "%s", words);
    free(words);
  }
}

/* Returns where the tape goes on. A gap leads forwards, so the walk ends. */
static uint64_t
pass_gap(td_directory *directory, uint64_t offset, const td_chunk_header *header, uint64_t end) {
  td_gap gap = td_gap_of(header);
  td_tape_header *start = &directory->header;
  if (gap.next < offset + sizeof *header) {
    td_directory_note_damage(directory, "the gap at byte %" PRIu64 " leads backwards", offset);
    return offset + sizeof *header;
  }
  if (!directory->gap) directory->gap = offset;
  directory->n_skipped += TD_MIN(gap.next, end) - offset - sizeof *header;
  if (gap.start_ticks > start->start_ticks && gap.start_monotonic_ns > start->start_monotonic_ns) {
    start->start_wall_ns += gap.start_monotonic_ns - start->start_monotonic_ns;
    start->start_monotonic_ns = gap.start_monotonic_ns;
    start->start_ticks = gap.start_ticks;
  }
  return TD_MIN(gap.next, end);
}

static void
take_chunk(td_directory *directory, uint64_t offset, const td_chunk_row *row, bool is_listed) {
  const td_directory_chunk chunk = chunk_of(offset, row, is_listed);
  if (row->header.kind == TD_CHUNK_EVENTS) add_chunk(directory, &row->header, &chunk);
  if (row->header.kind == TD_CHUNK_KEYFRAME) add_keyframe(directory, &row->header, &chunk);
  if (row->header.kind == TD_CHUNK_TABLE) {
    TD_GROW(directory->pieces, directory->n_pieces, directory->pieces_capacity);
    directory->pieces[directory->n_pieces++] = offset;
  }
  directory->raw_bytes += row->header.raw_bytes;
}

static bool
find_row(td_directory *directory, uint64_t offset, td_chunk_row *row, bool *is_listed) {
  const td_chunk_row *listed = td_chunk_list_take(&directory->list, offset);
  *is_listed = listed != NULL;
  if (listed) *row = *listed;
  if (listed) return true;
  if (!td_tape_file_header(&directory->file, offset, &row->header)) return false;
  row->content = td_tape_file_checksum(&directory->file, offset, &row->header);
  return true;
}

/* Walks from header to header; where one does not hold, looks for the next that does. */
static void
walk_chunks(td_directory *directory, uint64_t offset) {
  uint64_t ticks = 0, monotonic_ns = 0;
  uint64_t end = directory->file.n_bytes - (directory->has_end ? sizeof(td_trailer) : 0);
  while (offset < end) {
    td_chunk_row row;
    const td_chunk_header *header = &row.header;
    bool is_listed;
    if (!find_row(directory, offset, &row, &is_listed)) {
      uint64_t next = td_tape_file_find(&directory->file, offset + 1);
      note_unreadable(directory, offset, TD_MIN(next, end));
      offset = next;
      continue;
    }
    if (header->kind == TD_CHUNK_GAP) {
      offset = pass_gap(directory, offset, header, end);
      continue;
    }
    take_chunk(directory, offset, &row, is_listed);
    ticks = header->clock_ticks;
    monotonic_ns = header->clock_monotonic_ns;
    offset += sizeof *header + header->stored_bytes;
  }
  calibrate(directory, ticks, monotonic_ns);
  if (!directory->complete)
    note_cut_off(directory,
                 td_dup_string("the recording was not ended: what came last may be missing"));
}

uint64_t
td_directory_count_events(const td_directory *directory) {
  uint64_t n = 0;
  for (uint32_t t = 0; t < directory->n_threads; t++)
    for (uint32_t c = 0; c < directory->threads[t].n_chunks; c++)
      n += directory->threads[t].chunks[c].n_events;
  return n;
}

bool
td_directory_allows(const td_directory *directory, uint64_t n_bytes, uint64_t raw_bytes) {
  uint64_t n_written = n_bytes - directory->n_skipped;
  return directory->trusted || raw_bytes <= TD_MAX(CONTENTS_FREE, n_written * CONTENTS_PER_BYTE);
}

static td_status
check_size(const td_directory *directory, td_error *error) {
  if (td_directory_allows(directory, directory->file.n_bytes, directory->raw_bytes)) return TD_OK;
  return td_error_set(
      error, TD_UNSUPPORTED,
      "its %zu bytes become %" PRIu64
      " when decompressed, which recordings seldom do; --trust reads it all the same",
      directory->file.n_bytes, directory->raw_bytes);
}

/* `status`: how opening the file went. */
static td_status
read_file(td_directory *directory, td_status status, td_error *error) {
  uint64_t offset;
  if (!status) status = read_header(directory, error);
  if (!status) status = read_schema(directory, &offset, error);
  if (!status) {
    find_end(directory);
    directory->cut_off = !directory->complete;
    walk_chunks(directory, offset);
    td_chunk_list_fini(&directory->list);
    status = check_size(directory, error);
  }
  if (directory->file.failure) status = td_tape_file_check(&directory->file, error);
  directory->n_file_bytes = directory->file.n_bytes - directory->n_skipped;
  if (status) td_directory_close(directory);
  return status;
}

static td_status
open_as(const char *path, bool trusted, td_directory *directory, td_error *error) {
  *directory = (td_directory){.trusted = trusted};
  return read_file(directory, td_tape_file_open(path, &directory->file, error), error);
}

td_status
td_directory_open_memory(int fd, td_directory *directory, td_error *error) {
  *directory = (td_directory){.trusted = true};
  return read_file(directory, td_tape_file_adopt(fd, &directory->file, error), error);
}

td_status
td_directory_open(const char *path, td_directory *directory, td_error *error) {
  bool trusted = atomic_load_explicit(&all_are_trusted, memory_order_relaxed);
  return open_as(path, trusted, directory, error);
}

td_status
td_directory_open_own(const char *path, td_directory *directory, td_error *error) {
  return open_as(path, true, directory, error);
}

td_status
td_directory_tell_unreadable(const td_directory *directory, td_error *error) {
  if (directory->file.failure) return td_tape_file_check(&directory->file, error);
  return td_error_set(error, TD_IO, "another program changed the file while it was open");
}

void
td_directory_close(td_directory *directory) {
  for (uint32_t t = 0; t < directory->n_threads; t++)
    free(directory->threads[t].chunks);
  free(directory->threads);
  free(directory->claims);
  free(directory->pieces);
  free(directory->keyframes);
  td_decoder_fini(&directory->decoder);
  free(directory->damage);
  td_tape_file_close(&directory->file);
  *directory = (td_directory){.file.fd = -1};
}

/* The chunk is not as it is known. Note [A list of chunks may lie]. */
static td_status
tell_other(const td_directory *directory, const td_directory_chunk *known, td_error *error) {
  const td_tape_file *file = &directory->file;
  if (file->failure || !known->is_listed || td_tape_file_has_changed(file))
    return td_directory_tell_unreadable(directory, error);
  return td_error_set(error, TD_DAMAGED, "the chunk at byte %" PRIu64 " is damaged", known->offset);
}

td_status
td_directory_read(td_directory *directory, td_directory_chunk *known, td_chunk_header *header,
                  td_error *error) {
  td_tape_file *file = &directory->file;
  uint32_t checksum;
  if (!td_tape_file_header(file, known->offset, header) || header->checksum != known->checksum)
    return tell_other(directory, known, error);
  td_status status = td_tape_file_contents(file, known->offset, header, &checksum, error);
  if (status != TD_OUT_OF_MEMORY && (file->failure || checksum != known->content))
    return tell_other(directory, known, error);
  if (!status) known->is_listed = false;
  return status;
}

td_status
td_directory_load(td_directory *directory, uint32_t thread, uint32_t chunk, td_decoded *decoded,
                  td_error *error) {
  td_chunk_header header;
  td_status status =
      td_directory_read(directory, &directory->threads[thread].chunks[chunk], &header, error);
  if (status) return status;
  return td_decoder_run(&directory->decoder, &header, directory->file.raw, decoded, error);
}
