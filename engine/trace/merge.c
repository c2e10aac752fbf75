/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/merge.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

void
td_merge_init(td_merge *merge, td_directory *directory) {
  *merge = (td_merge){.directory = directory};
  merge->streams = TD_NEW_N(td_merge_stream, directory->n_threads);
  merge->heap = TD_NEW_N(uint32_t, directory->n_threads);
  merge->times = TD_NEW_N(uint64_t, directory->n_threads);
  for (uint32_t t = 0; t < directory->n_threads; t++)
    merge->streams[t].loaded = UINT32_MAX;
}

void
td_merge_fini(td_merge *merge) {
  for (uint32_t t = 0; t < merge->directory->n_threads; t++)
    td_decoded_fini(&merge->streams[t].decoded);
  free(merge->streams);
  free(merge->heap);
  free(merge->times);
}

static bool
is_before(const td_merge *merge, uint32_t a, uint32_t b) {
  return merge->times[a] != merge->times[b] ? merge->times[a] < merge->times[b] : a < b;
}

/* Restores the heap below `hole`, whose entry may have become greater. */
static void
sift_down(td_merge *merge, uint32_t hole) {
  uint32_t item = merge->heap[hole];
  for (;;) {
    uint32_t child = 2 * hole + 1;
    if (child >= merge->n_heap) break;
    if (child + 1 < merge->n_heap && is_before(merge, merge->heap[child + 1], merge->heap[child]))
      child++;
    if (!is_before(merge, merge->heap[child], item)) break;
    merge->heap[hole] = merge->heap[child];
    hole = child;
  }
  merge->heap[hole] = item;
}

/* Readers reserve room by what the table of contents counts. */
static bool
is_as_claimed(const td_directory *directory, td_directory_chunk *chunk, const td_decoded *decoded) {
  if (chunk->is_counted || directory->n_claims == 0) return true;
  uint32_t n_by_kind[TD_EVENT_LIMIT] = {0};
  for (uint32_t i = 0; i < decoded->n_events; i++)
    n_by_kind[td_decoded_get(decoded, i)->kind]++;
  for (uint32_t i = chunk->first_claim; i < chunk->first_claim + chunk->n_claims; i++)
    n_by_kind[directory->claims[i].kind] -= directory->claims[i].n;
  chunk->is_counted = true;
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++)
    chunk->is_counted = chunk->is_counted && n_by_kind[kind] == 0;
  return chunk->is_counted;
}

static td_status
load_chunk(td_merge *merge, uint32_t thread, td_merge_stream *stream, td_error *error) {
  td_directory *directory = merge->directory;
  td_status status = td_directory_load(directory, thread, stream->chunk, &stream->decoded, error);
  td_directory_chunk *chunk = &directory->threads[thread].chunks[stream->chunk];
  if (status || is_as_claimed(directory, chunk, &stream->decoded)) return status;
  return td_error_set(error, TD_DAMAGED,
                      "a chunk of thread %u is not as the table of contents says", thread);
}

/* Sees to it that the stream's `next` is a decoded event, in a later chunk if need be; false at its
 * end. */
static bool
stream_fill(td_merge *merge, uint32_t thread) {
  td_merge_stream *stream = &merge->streams[thread];
  const td_directory_thread *chunks = &merge->directory->threads[thread];
  for (; stream->chunk < chunks->n_chunks; stream->chunk++, stream->next = 0) {
    if (stream->loaded != stream->chunk) {
      td_error error = {0};
      if (load_chunk(merge, thread, stream, &error)) {
        merge->directory->unreadable |= error.status == TD_IO;
        merge->directory->out_of_memory |= error.status == TD_OUT_OF_MEMORY;
        td_directory_note_damage(merge->directory, "%s", td_error_text(&error));
        td_error_clear(&error);
        stream->decoded.n_events = 0;
      }
      stream->loaded = stream->chunk;
      stream->n_unknown += stream->decoded.n_unknown;
    }
    if (stream->next < stream->decoded.n_events) {
      merge->times[thread] = td_decoded_get(&stream->decoded, stream->next)->time;
      return true;
    }
  }
  return false;
}

static void
build_heap(td_merge *merge) {
  merge->handed_out = false;
  merge->n_heap = 0;
  for (uint32_t t = 0; t < merge->directory->n_threads; t++)
    if (stream_fill(merge, t)) merge->heap[merge->n_heap++] = t;
  for (uint32_t i = merge->n_heap / 2; i-- > 0;)
    sift_down(merge, i);
}

void
td_merge_start(td_merge *merge) {
  for (uint32_t t = 0; t < merge->directory->n_threads; t++)
    merge->streams[t].chunk = merge->streams[t].next = 0;
  build_heap(merge);
}

static bool
is_left_behind(uint64_t time, uint64_t ns, bool after) {
  return time < ns || (after && time == ns);
}

/* Puts a stream before its first event with time >= ns (or > ns, where `after`). */
static void
stream_seek(td_merge *merge, uint32_t thread, uint64_t ns, bool after) {
  td_merge_stream *stream = &merge->streams[thread];
  const td_directory_thread *chunks = &merge->directory->threads[thread];
  uint32_t chunk, i;
  TD_BISECT(chunk, 0, chunks->n_chunks, is_left_behind(chunks->chunks[chunk].last_ns, ns, after));
  stream->chunk = chunk;
  stream->next = 0;
  if (!stream_fill(merge, thread) || stream->chunk != chunk) return;
  TD_BISECT(i, 0, stream->decoded.n_events,
            is_left_behind(td_decoded_get(&stream->decoded, i)->time, ns, after));
  stream->next = i;
}

void
td_merge_seek(td_merge *merge, const td_merge_place *place) {
  for (uint32_t t = 0; t < merge->directory->n_threads; t++)
    if (t != place->thread) stream_seek(merge, t, place->ns, t < place->thread);
  /* Very many events of a thread may bear one time. */
  merge->streams[place->thread].chunk = place->chunk;
  merge->streams[place->thread].next = place->number;
  build_heap(merge);
}

/* Steps over the event that was handed out last. */
static void
advance(td_merge *merge) {
  uint32_t thread = merge->heap[0];
  merge->streams[thread].next++;
  if (!stream_fill(merge, thread)) merge->heap[0] = merge->heap[--merge->n_heap];
  if (merge->n_heap > 1) sift_down(merge, 0);
}

const td_event *
td_merge_next(td_merge *merge) {
  if (merge->handed_out) advance(merge);
  merge->handed_out = merge->n_heap > 0;
  if (!merge->handed_out) return NULL;
  const td_merge_stream *stream = &merge->streams[merge->heap[0]];
  return td_decoded_get(&stream->decoded, stream->next);
}

/* How many of a stream's events, from the next one on, come before those of all other streams. */
static uint32_t
count_before_others(const td_merge *merge, uint32_t thread, uint32_t most) {
  const td_merge_stream *stream = &merge->streams[thread];
  uint32_t n = 1, other = merge->n_heap > 1 ? merge->heap[1] : 0;
  if (merge->n_heap < 2) return most;
  if (merge->n_heap > 2 && is_before(merge, merge->heap[2], other)) other = merge->heap[2];
  uint64_t limit = merge->times[other];
  while (n < most) {
    uint64_t time = td_decoded_get(&stream->decoded, stream->next + n)->time;
    if (time != limit ? time > limit : thread > other) break;
    n++;
  }
  return n;
}

bool
td_merge_next_run(td_merge *merge, uint32_t most, td_merge_run *run) {
  if (!td_merge_next(merge)) return false;
  uint32_t thread = merge->heap[0];
  td_merge_stream *stream = &merge->streams[thread];
  uint32_t n_left = stream->decoded.n_events - stream->next;
  uint32_t n = count_before_others(merge, thread, TD_MIN(most, n_left));
  *run = (td_merge_run){&stream->decoded, stream->next, n, thread, stream->chunk};
  stream->next += n - 1;
  merge->times[thread] = td_decoded_get(&stream->decoded, stream->next)->time;
  return true;
}

td_merge_place
td_merge_last(const td_merge *merge) {
  uint32_t thread = merge->heap[0];
  const td_merge_stream *stream = &merge->streams[thread];
  return (td_merge_place){merge->times[thread], thread, stream->chunk, stream->next};
}
