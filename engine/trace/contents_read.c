/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A table of contents becomes contents. It trusts no byte: Note [A table of contents may lie]. */
#include "engine/base/alloc.h"
#include "engine/trace/contents.h"
#include "engine/trace/segment.h"

#include <stdlib.h>
#include <string.h>

#define PLACE_BYTES_LEAST 4 /* of a table */

typedef struct reader {
  td_contents *contents;
  td_directory *directory;
  const unsigned char *at, *end; /* at is NULL once the table has ended too early */
  uint32_t keyframe;             /* of the directory: the chunk that comes next */
} reader;

static uint64_t
get(reader *self) {
  uint64_t value = 0;
  if (self->at) self->at = td_varint_get(self->at, self->end, &value);
  return self->at ? value : 0;
}

static bool
read_strings(reader *self) {
  uint64_t n = get(self), id = 0;
  for (uint64_t i = 0; self->at && i < n; i++) {
    id += get(self);
    uint64_t length = get(self);
    if (!self->at || id > UINT32_MAX || length > (size_t)(self->end - self->at)) return false;
    td_contents_define(self->contents, (uint32_t)id, (const char *)self->at, length);
    self->at += length;
  }
  return self->at;
}

static bool
read_known(reader *self) {
  td_contents *contents = self->contents;
  uint64_t n = get(self);
  for (uint64_t i = 0; self->at && i < n; i++) {
    uint32_t kind = (uint32_t)get(self), how = (uint32_t)get(self);
    TD_GROW(contents->known, contents->n_known, contents->known_capacity);
    contents->known[contents->n_known++] = (td_event_known){.kind = kind, .how = how};
  }
  return self->at;
}

/* Every event of the chunk has a kind that this program knows, and is counted. */
static bool
read_chunk(reader *self, td_directory_chunk *chunk) {
  td_directory *directory = self->directory;
  uint64_t n_claims = get(self), n_events = 0;
  chunk->first_claim = directory->n_claims;
  for (uint64_t i = 0; self->at && i < n_claims; i++) {
    uint64_t kind = get(self), n = get(self);
    if (kind >= TD_EVENT_LIMIT || !td_event_type_get((uint32_t)kind) || n > chunk->n_events)
      return false;
    TD_GROW(directory->claims, directory->n_claims, directory->claims_capacity);
    directory->claims[directory->n_claims++] = (td_directory_claim){(uint32_t)kind, (uint32_t)n};
    self->contents->n_by_kind[kind] += n;
    n_events += n;
  }
  chunk->n_claims = directory->n_claims - chunk->first_claim;
  return self->at && n_events == chunk->n_events;
}

static bool
read_threads(reader *self) {
  if (get(self) != self->directory->n_threads) return false;
  for (uint32_t t = 0; t < self->directory->n_threads; t++) {
    td_directory_thread *from = &self->directory->threads[t];
    td_tape_thread *thread = &self->contents->threads[t];
    if (get(self) != from->n_chunks) return false;
    for (uint32_t c = 0; c < from->n_chunks; c++) {
      if (!read_chunk(self, &from->chunks[c])) return false;
      thread->n_events += from->chunks[c].n_events;
    }
    if (from->n_chunks == 0) continue;
    thread->first_ns = from->chunks[0].first_ns;
    thread->last_ns = from->chunks[from->n_chunks - 1].last_ns;
    self->contents->n_events += thread->n_events;
  }
  return true;
}

static bool
is_possible(const td_directory *directory, const td_merge_place *place) {
  if (place->thread >= directory->n_threads) return false;
  const td_directory_thread *thread = &directory->threads[place->thread];
  if (place->chunk >= thread->n_chunks) return false;
  const td_directory_chunk *chunk = &thread->chunks[place->chunk];
  return place->number < chunk->n_events && place->ns >= chunk->first_ns &&
         place->ns <= chunk->last_ns;
}

static bool
read_places(reader *self) {
  td_contents *contents = self->contents;
  uint64_t n_blocks = (contents->n_events + TD_BLOCK_EVENTS - 1) / TD_BLOCK_EVENTS, ns = 0;
  if (!self->at) return false;
  contents->places_capacity = TD_MIN(n_blocks, (size_t)(self->end - self->at) / PLACE_BYTES_LEAST);
  contents->places = TD_NEW_N(td_merge_place, contents->places_capacity);
  for (uint64_t i = 0; self->at && i < contents->places_capacity; i++) {
    ns += get(self);
    td_merge_place place = {.ns = ns, .thread = (uint32_t)get(self)};
    place.chunk = (uint32_t)get(self);
    place.number = (uint32_t)get(self);
    const td_merge_place *before = i ? &contents->places[i - 1] : NULL;
    if (!is_possible(self->directory, &place)) return false;
    if (before && !td_merge_is_before(before, &place)) return false;
    contents->places[contents->n_blocks++] = place;
  }
  return self->at && contents->n_blocks == n_blocks;
}

/* How many events the keyframe of a segment has. Its chunks follow those of the segments before. */
static uint64_t
count_keyframe(reader *self, uint32_t segment) {
  const td_directory *directory = self->directory;
  uint64_t n = 0;
  for (; self->keyframe < directory->n_keyframes &&
         directory->keyframes[self->keyframe].segment == segment;
       self->keyframe++)
    n += directory->keyframes[self->keyframe].chunk.n_events;
  return n;
}

static bool
read_segments(reader *self) {
  td_contents *contents = self->contents;
  uint64_t n = self->at < self->end ? get(self) : 0, first = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t step = get(self), n_keyframe = get(self);
    bool is_possible = self->at && i < TD_SEGMENT_OUTLINE && (step > 0) == (i > 0) &&
                       step < contents->n_events - first &&
                       n_keyframe == count_keyframe(self, (uint32_t)i);
    if (!is_possible) return false;
    first += step;
    TD_GROW(contents->segments, contents->n_segments, contents->segments_capacity);
    contents->segments[contents->n_segments++] = first;
  }
  return n == 0 || get(self) == count_keyframe(self, TD_SEGMENT_OUTLINE);
}

/* What lives where a segment begins would lack these. */
static bool
has_unknown_kinds(const td_decoder *decoder) {
  for (uint32_t kind = 0; kind < decoder->n_kinds; kind++)
    if (decoder->kinds[kind].on_tape && !decoder->kinds[kind].type) return true;
  return false;
}

unsigned char *
td_contents_load_table(td_directory *directory, size_t *n_bytes) {
  unsigned char *bytes = NULL;
  *n_bytes = 0;
  for (uint32_t i = 0; i < directory->n_pieces; i++) {
    td_chunk_header header;
    uint32_t checksum;
    uint64_t offset = directory->pieces[i];
    bool read = td_tape_file_header(&directory->file, offset, &header) &&
                td_tape_file_contents(&directory->file, offset, &header, &checksum, NULL) == TD_OK;
    unsigned char *larger = read ? realloc(bytes, *n_bytes + header.raw_bytes + 1) : NULL;
    if (!larger) {
      free(bytes);
      return NULL;
    }
    bytes = larger;
    memcpy(bytes + *n_bytes, directory->file.raw, header.raw_bytes);
    *n_bytes += header.raw_bytes;
  }
  return bytes;
}

bool
td_contents_read(td_contents *contents, td_directory *directory) {
  size_t n_bytes;
  if (!directory->has_end || !td_directory_is_sound(directory) || directory->n_pieces == 0)
    return false;
  unsigned char *bytes = td_contents_load_table(directory, &n_bytes);
  if (!bytes) return false;
  *contents = (td_contents){.threads = TD_NEW_N(td_tape_thread, directory->n_threads)};
  reader self = {contents, directory, bytes, bytes + n_bytes, 0};
  bool usable = read_threads(&self) && read_places(&self);
  if (usable) contents->n_dropped = get(&self);
  usable = usable && read_strings(&self) && read_known(&self) && read_segments(&self);
  free(bytes);
  if (usable && has_unknown_kinds(&directory->decoder)) contents->n_segments = 0;
  if (usable) return true;
  td_contents_fini(contents);
  directory->n_claims = 0;
  return false;
}
