/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/align.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/profile/op_name.h"
#include "engine/profile/pairing.h"
#include "engine/profile/sequence.h"

#include <string.h>

/* Streams: the passes that one thread called */

typedef struct stream {
  uint32_t thread;
  uint32_t *tasks; /* (owned) indices into visits.tasks */
  uint32_t n, capacity;
  uint64_t hash; /* of what its passes did */
  bool taken;
} stream;

typedef struct streams {
  stream *items; /* (owned) in the order of their first pass */
  uint32_t n, capacity;
} streams;

static stream *
stream_get(streams *streams, uint32_t thread) {
  for (uint32_t i = 0; i < streams->n; i++)
    if (streams->items[i].thread == thread) return &streams->items[i];
  TD_GROW(streams->items, streams->n, streams->capacity);
  streams->items[streams->n] = (stream){.thread = thread, .hash = TD_HASH_SEED};
  return &streams->items[streams->n++];
}

static uint64_t
hash_task(const td_visits *visits, const td_visit_task *task, uint64_t hash) {
  for (uint32_t i = 0; i < task->n; i++) {
    uint32_t node = visits->visits[task->first + i].node;
    uint64_t name = td_op_name_hash(visits->catalog->nodes[node].name);
    hash = td_hash_bytes(hash, &name, sizeof name);
  }
  return td_hash_bytes(hash, &task->n, sizeof task->n);
}

/* Hashes are needed only to tell several streams apart. */
static void
streams_init(streams *streams, const td_visits *visits) {
  for (uint32_t i = 0; i < visits->n_tasks; i++) {
    stream *stream = stream_get(streams, visits->tasks[i].stream);
    TD_GROW(stream->tasks, stream->n, stream->capacity);
    stream->tasks[stream->n++] = i;
  }
  for (uint32_t i = 0; streams->n > 1 && i < streams->n; i++)
    for (uint32_t j = 0; j < streams->items[i].n; j++)
      streams->items[i].hash =
          hash_task(visits, &visits->tasks[streams->items[i].tasks[j]], streams->items[i].hash);
}

static void
streams_fini(streams *streams) {
  for (uint32_t i = 0; i < streams->n; i++)
    free(streams->items[i].tasks);
  free(streams->items);
}

/* The stream of b that goes with one of a: the first that did the same; else, on the second round,
 * the first that is left. */
static stream *
stream_match(streams *streams, const stream *like, bool same) {
  for (uint32_t i = 0; i < streams->n; i++)
    if (!streams->items[i].taken && (!same || streams->items[i].hash == like->hash))
      return &streams->items[i];
  return NULL;
}

static void
pair_streams(td_align *align, const stream *a, const stream *b) {
  for (uint32_t i = 0; i < TD_MIN(a->n, b->n); i++)
    align->pairs[align->n_pairs++] = (td_align_pair){a->tasks[i], b->tasks[i], false};
}

static int
compare_pairs(const void *a, const void *b) {
  const td_align_pair *left = a, *right = b;
  return (left->task_a > right->task_a) - (left->task_a < right->task_a);
}

static td_status
pair_tasks(td_align *align) {
  align->pairs = td_try_alloc(TD_MIN(align->a.n_tasks, align->b.n_tasks), sizeof *align->pairs);
  if (!align->pairs) return TD_OUT_OF_MEMORY;
  streams a = {0}, b = {0};
  streams_init(&a, &align->a);
  streams_init(&b, &align->b);
  for (int same = 1; same >= 0; same--)
    for (uint32_t i = 0; i < a.n; i++) {
      stream *from = &a.items[i], *to = from->taken ? NULL : stream_match(&b, from, same);
      if (!to) continue;
      from->taken = to->taken = true;
      pair_streams(align, from, to);
    }
  streams_fini(&a);
  streams_fini(&b);
  qsort(align->pairs, align->n_pairs, sizeof *align->pairs, compare_pairs);
  return TD_OK;
}

/* Order */

/* The visits of one lane in both tasks of a pair, and scratch memory for as many places. */
typedef struct lane {
  uint32_t *a, *b, *places; /* (owned) */
  uint32_t n_a, n_b;
} lane;

static uint32_t
select_lane(const td_visits *visits, const td_visit_task *task, int32_t device, uint32_t *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < task->n; i++)
    if (visits->visits[task->first + i].lane == device) out[n++] = task->first + i;
  return n;
}

/* The place of a lane's first difference, or TD_NONE. */
static uint32_t
first_difference(const td_align *align, const lane *lane) {
  uint32_t n = TD_MIN(lane->n_a, lane->n_b);
  for (uint32_t i = 0; i < n; i++)
    if (align->partners_a[lane->a[i]] != lane->b[i]) return i;
  return lane->n_a == lane->n_b ? TD_NONE : n;
}

static td_status
count_moved(td_align *align, const lane *lane) {
  uint32_t n = 0, n_kept;
  for (uint32_t i = 0; i < lane->n_a; i++) {
    uint32_t partner = align->partners_a[lane->a[i]];
    if (partner == TD_NONE) continue;
    if (align->b.visits[partner].lane == align->a.visits[lane->a[i]].lane)
      lane->places[n++] = partner;
    else
      align->n_moved++;
  }
  td_status status = td_sequence_rising(lane->places, n, &n_kept);
  if (status == TD_OK) align->n_moved += n - n_kept;
  return status;
}

/* Which of two divergences of a pair comes first on tape a, or on b where a has no more. */
static bool
is_earlier(const td_align *align, const td_align_divergence *new, const td_align_divergence *old) {
  if (new->a != TD_NONE && old->a != TD_NONE)
    return align->a.visits[new->a].at < align->a.visits[old->a].at;
  if (new->b != TD_NONE && old->b != TD_NONE)
    return align->b.visits[new->b].at < align->b.visits[old->b].at;
  return new->a != TD_NONE;
}

static void
note_divergence(td_align *align, const td_align_divergence *found) {
  bool first = !align->diverges || (align->divergence.pair == found->pair &&
                                    is_earlier(align, found, &align->divergence));
  if (first) align->divergence = *found;
  align->diverges = true;
  align->equal_order = false;
  align->pairs[found->pair].equal = false;
}

static td_status
compare_lane(td_align *align, uint32_t pair, lane *lane, int32_t device) {
  const td_align_pair *tasks = &align->pairs[pair];
  lane->n_a = select_lane(&align->a, &align->a.tasks[tasks->task_a], device, lane->a);
  lane->n_b = select_lane(&align->b, &align->b.tasks[tasks->task_b], device, lane->b);
  uint32_t at = first_difference(align, lane);
  if (at == TD_NONE) return TD_OK;
  note_divergence(align, &(td_align_divergence){.pair = pair,
                                                .lane = device,
                                                .position = at,
                                                .a = at < lane->n_a ? lane->a[at] : TD_NONE,
                                                .b = at < lane->n_b ? lane->b[at] : TD_NONE});
  return count_moved(align, lane);
}

/* The next greater device among a task's visits; false after the last. */
static bool
next_device(const td_visits *visits, const td_visit_task *task, int64_t after, int64_t *next) {
  bool found = false;
  for (uint32_t i = 0; i < task->n; i++) {
    int64_t device = visits->visits[task->first + i].lane;
    if (device <= after || (found && device >= *next)) continue;
    *next = device;
    found = true;
  }
  return found;
}

static td_status
compare_lanes(td_align *align, uint32_t pair, lane *lane) {
  const td_align_pair *tasks = &align->pairs[pair];
  int64_t device = INT64_MIN;
  td_status status = TD_OK;
  while (status == TD_OK) {
    int64_t next_a = INT64_MAX, next_b = INT64_MAX;
    bool in_a = next_device(&align->a, &align->a.tasks[tasks->task_a], device, &next_a);
    bool in_b = next_device(&align->b, &align->b.tasks[tasks->task_b], device, &next_b);
    if (!in_a && !in_b) break;
    device = TD_MIN(next_a, next_b);
    status = compare_lane(align, pair, lane, (int32_t)device);
  }
  return status;
}

static td_status
compare_order(td_align *align, uint32_t pair) {
  uint32_t n_a = align->a.tasks[align->pairs[pair].task_a].n;
  uint32_t n_b = align->b.tasks[align->pairs[pair].task_b].n;
  lane lane = {.a = td_try_alloc(n_a, sizeof *lane.a),
               .b = td_try_alloc(n_b, sizeof *lane.b),
               .places = td_try_alloc(n_a, sizeof *lane.places)};
  align->pairs[pair].equal = true;
  bool allocated = lane.a && lane.b && lane.places;
  td_status status = allocated ? compare_lanes(align, pair, &lane) : TD_OUT_OF_MEMORY;
  free(lane.a);
  free(lane.b);
  free(lane.places);
  return status;
}

/* All of it */

static uint32_t *
nothing(uint32_t n) {
  uint32_t *ids = td_try_alloc(n, sizeof *ids);
  if (ids) memset(ids, 0xff, n * sizeof *ids);
  return ids;
}

static bool
is_reshaped(const td_align *align, uint32_t visit_a, uint32_t visit_b) {
  uint64_t a = td_pairing_shape(align->a.catalog, align->a.visits[visit_a].node);
  uint64_t b = td_pairing_shape(align->b.catalog, align->b.visits[visit_b].node);
  return a && b && a != b;
}

static void
count(td_align *align) {
  for (uint32_t i = 0; i < align->a.n; i++) {
    if (align->partners_a[i] == TD_NONE) continue;
    align->n_paired++;
    align->n_reshaped += is_reshaped(align, i, align->partners_a[i]);
  }
  align->n_only_a = align->a.n - align->n_paired;
  align->n_only_b = align->b.n - align->n_paired;
  if (align->n_pairs < TD_MAX(align->a.n_tasks, align->b.n_tasks)) align->equal_order = false;
}

static td_status
align_pairs(td_align *align, uint32_t *places_a, uint32_t *places_b) {
  td_status status = TD_OK;
  for (uint32_t i = 0; i < align->n_pairs && status == TD_OK; i++) {
    const td_align_pair *pair = &align->pairs[i];
    status = td_pairing_find(&align->a, &align->a.tasks[pair->task_a], &align->b,
                             &align->b.tasks[pair->task_b], align->partners_a, align->partners_b,
                             places_a, places_b);
    if (status == TD_OK) status = compare_order(align, i);
  }
  return status;
}

static td_status
align_visits(td_align *align) {
  uint32_t *places_a = nothing(align->a.catalog->n_nodes);
  uint32_t *places_b = nothing(align->b.catalog->n_nodes);
  align->partners_a = nothing(align->a.n);
  align->partners_b = nothing(align->b.n);
  align->equal_order = true;
  bool allocated = places_a && places_b && align->partners_a && align->partners_b;
  td_status status = allocated ? pair_tasks(align) : TD_OUT_OF_MEMORY;
  if (status == TD_OK) status = align_pairs(align, places_a, places_b);
  if (status == TD_OK) count(align);
  free(places_a);
  free(places_b);
  return status;
}

static td_status
collect_visits(td_tape *tape, const td_catalog *graph, td_visits *visits, td_error *error) {
  td_status status = td_visits_collect(tape, graph, visits, error);
  if (status) td_error_prefix(error, "%s: ", td_tape_path(tape));
  return status;
}

td_status
td_align_tapes(td_tape *a, const td_catalog *graph_a, td_tape *b, const td_catalog *graph_b,
               td_align *align, td_error *error) {
  *align = (td_align){0};
  td_status status = collect_visits(a, graph_a, &align->a, error);
  if (status == TD_OK) status = collect_visits(b, graph_b, &align->b, error);
  if (status != TD_OK) {
    td_align_fini(align);
    return status;
  }
  status = align_visits(align);
  if (status == TD_OK) return TD_OK;
  td_align_fini(align);
  return td_error_set(error, status, "no memory to align the tapes");
}

void
td_align_fini(td_align *align) {
  td_visits_fini(&align->a);
  td_visits_fini(&align->b);
  free(align->partners_a);
  free(align->partners_b);
  free(align->pairs);
  *align = (td_align){0};
}
