/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/align_streams.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/number_map.h"

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

static void
pair_streams(stream *a, stream *b, void (*pair)(uint32_t, uint32_t, void *), void *data) {
  a->taken = b->taken = true;
  for (uint32_t i = 0; i < TD_MIN(a->n, b->n); i++)
    pair(a->tasks[i], b->tasks[i], data);
}

bool
td_align_streams_several(const td_diff_tasks *tasks) {
  for (uint32_t i = 1; i < tasks->n; i++)
    if (tasks->items[i].stream != tasks->items[0].stream) return true;
  return false;
}

void
td_align_streams_pair(const td_diff_tasks *tasks_a, const td_diff_tasks *tasks_b,
                      void (*pair)(uint32_t task_a, uint32_t task_b, void *data), void *data) {
  streams a = {0}, b = {0};
  td_number_map first_same = {0};
  streams_init(&a, tasks_a);
  streams_init(&b, tasks_b);
  chain_same(&b, &first_same);
  bool several = td_align_streams_several(tasks_a) && td_align_streams_several(tasks_b);
  for (uint32_t i = 0; several && i < a.n; i++) {
    stream *same = take_same(&b, &first_same, a.items[i].hash);
    if (same) pair_streams(&a.items[i], same, pair, data);
  }
  for (uint32_t i = 0, left = 0; i < a.n; i++) {
    if (a.items[i].taken) continue;
    while (left < b.n && b.items[left].taken)
      left++;
    if (left < b.n) pair_streams(&a.items[i], &b.items[left], pair, data);
  }
  td_number_map_fini(&first_same);
  streams_fini(&a);
  streams_fini(&b);
}
