/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/align_streams.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/number_map.h"
#include "engine/profile/diff/sequence.h"

typedef struct stream {
  uint32_t *tasks; /* (owned) places in the list */
  uint32_t n, capacity;
  uint64_t hash;      /* of what its passes did */
  uint32_t next_same; /* 1 + the next stream with this hash, or 0 */
  bool taken;
} stream;

typedef struct streams {
  stream *items; /* (owned) in the order of their first pass */
  uint32_t n, capacity;
} streams;

static stream *
stream_get(streams *streams, td_number_map *by_thread, uint32_t thread) {
  uint64_t *number = td_number_map_put(by_thread, thread);
  if (*number) return &streams->items[*number - 1];
  TD_GROW(streams->items, streams->n, streams->capacity);
  streams->items[streams->n] = (stream){.hash = TD_HASH_SEED};
  *number = ++streams->n;
  return &streams->items[*number - 1];
}

static void
streams_init(streams *streams, const td_diff_tasks *tasks) {
  td_number_map by_thread = {0};
  for (uint32_t i = 0; i < tasks->n; i++) {
    const td_diff_task *task = &tasks->items[i];
    stream *stream = stream_get(streams, &by_thread, task->stream);
    TD_GROW(stream->tasks, stream->n, stream->capacity);
    stream->tasks[stream->n++] = i;
    stream->hash = td_hash_bytes(stream->hash, &task->hash, sizeof task->hash);
  }
  td_number_map_fini(&by_thread);
}

static void
streams_fini(streams *streams) {
  for (uint32_t i = 0; i < streams->n; i++)
    free(streams->items[i].tasks);
  free(streams->items);
}

/* By hash: 1 + the first stream that has it. The others follow in their order. */
static void
chain_same(streams *streams, td_number_map *first_same) {
  for (uint32_t i = streams->n; i-- > 0;) {
    uint64_t *first = td_number_map_put(first_same, streams->items[i].hash);
    streams->items[i].next_same = (uint32_t)*first;
    *first = i + 1;
  }
}

/* Takes the first of the chain. */
static stream *
take_same(streams *streams, td_number_map *first_same, uint64_t hash) {
  uint64_t *first = td_number_map_find(first_same, hash);
  if (!first || *first == 0) return NULL;
  stream *found = &streams->items[*first - 1];
  *first = found->next_same;
  return found;
}

/* ---- the passes of two streams ---- */

typedef struct pairing {
  const td_diff_tasks *tasks_a, *tasks_b;
  void (*pair)(uint32_t task_a, uint32_t task_b, void *data);
  void *data;
} pairing;

static uint64_t *
list_hashes(const td_diff_tasks *tasks, const stream *stream) {
  uint64_t *hashes = td_try_alloc(stream->n, sizeof *hashes);
  for (uint32_t i = 0; hashes && i < stream->n; i++)
    hashes[i] = tasks->items[stream->tasks[i]].hash;
  return hashes;
}

/* Pairs from these places on, up to others, as many as there are on both sides. */
static void
pair_in_order(const pairing *self, const stream *a, const stream *b, uint32_t first_a,
              uint32_t first_b, uint32_t end_a, uint32_t end_b) {
  for (; first_a < end_a && first_b < end_b; first_a++, first_b++)
    self->pair(a->tasks[first_a], b->tasks[first_b], self->data);
}

/* Passes that do the same are partners. Between two of them, passes are paired in their order. */
static void
pair_aligned(const pairing *self, const stream *a, const stream *b, const uint32_t *partners) {
  uint32_t first_a = 0, first_b = 0;
  for (uint32_t i = 0; i < a->n; i++) {
    if (partners[i] == TD_NONE) continue;
    pair_in_order(self, a, b, first_a, first_b, i, partners[i]);
    self->pair(a->tasks[i], b->tasks[partners[i]], self->data);
    first_a = i + 1;
    first_b = partners[i] + 1;
  }
  pair_in_order(self, a, b, first_a, first_b, a->n, b->n);
}

/* If both have as many passes, none is missing. */
static td_status
pair_streams(const pairing *self, stream *a, stream *b) {
  a->taken = b->taken = true;
  if (a->n == b->n) {
    pair_in_order(self, a, b, 0, 0, a->n, b->n);
    return TD_OK;
  }
  uint64_t *in_a = list_hashes(self->tasks_a, a), *in_b = list_hashes(self->tasks_b, b);
  uint32_t *partners = td_try_alloc(a->n, sizeof *partners);
  bool allocated = in_a && in_b && partners;
  td_status status =
      allocated ? td_sequence_match(in_a, a->n, in_b, b->n, partners) : TD_OUT_OF_MEMORY;
  if (!status) pair_aligned(self, a, b, partners);
  free(in_a);
  free(in_b);
  free(partners);
  return status;
}

static bool
has_several(const td_diff_tasks *tasks) {
  for (uint32_t i = 1; i < tasks->n; i++)
    if (tasks->items[i].stream != tasks->items[0].stream) return true;
  return false;
}

bool
td_align_streams_need_hashes(const td_diff_tasks *a, const td_diff_tasks *b) {
  return a->n != b->n || (has_several(a) && has_several(b));
}

/* Streams that do the same, then the others in their order. */
static td_status
pair_all(const pairing *self, streams *a, streams *b, td_number_map *first_same) {
  bool several = has_several(self->tasks_a) && has_several(self->tasks_b);
  td_status status = TD_OK;
  for (uint32_t i = 0; several && i < a->n && !status; i++) {
    stream *same = take_same(b, first_same, a->items[i].hash);
    if (same) status = pair_streams(self, &a->items[i], same);
  }
  for (uint32_t i = 0, left = 0; i < a->n && !status; i++) {
    if (a->items[i].taken) continue;
    while (left < b->n && b->items[left].taken)
      left++;
    if (left < b->n) status = pair_streams(self, &a->items[i], &b->items[left]);
  }
  return status;
}

td_status
td_align_streams_pair(const td_diff_tasks *tasks_a, const td_diff_tasks *tasks_b,
                      void (*pair)(uint32_t task_a, uint32_t task_b, void *data), void *data) {
  const pairing self = {tasks_a, tasks_b, pair, data};
  streams a = {0}, b = {0};
  td_number_map first_same = {0};
  streams_init(&a, tasks_a);
  streams_init(&b, tasks_b);
  chain_same(&b, &first_same);
  td_status status = pair_all(&self, &a, &b, &first_same);
  td_number_map_fini(&first_same);
  streams_fini(&a);
  streams_fini(&b);
  return status;
}
