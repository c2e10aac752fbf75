/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/trace_index.h"

#include "engine/base/alloc.h"
#include "engine/events/event.h"

#define NO_KEY UINT64_MAX
#define MAKING_THREADS_MAX 64 /* that are asked whether they made a node */
#define ARROW_FRAMES_MAX 64   /* among which an arrow looks for its node */

static uint64_t
key_of(uint32_t thread, int64_t sequence_nr) {
  if (thread >= (1u << (64 - TD_TRACE_SEQUENCE_BITS)) - 1 || sequence_nr < 0 ||
      sequence_nr >= (int64_t)TD_TRACE_SEQUENCE_MASK)
    return NO_KEY;
  return (uint64_t)thread << TD_TRACE_SEQUENCE_BITS | (uint64_t)sequence_nr;
}

static uint32_t
thread_of(uint64_t key) {
  return (uint32_t)(key >> TD_TRACE_SEQUENCE_BITS);
}

static int64_t
sequence_of(uint64_t key) {
  return (int64_t)(key & TD_TRACE_SEQUENCE_MASK);
}

static void
note_node(td_trace_index *self, const td_span *span) {
  uint64_t key = key_of(span->forward_thread, span->sequence_nr);
  if (key == NO_KEY || td_number_map_find(&self->by_key, key)) return;
  TD_GROW(self->nodes, self->n_nodes, self->capacity);
  *td_number_map_put(&self->by_key, key) = self->n_nodes;
  self->nodes[self->n_nodes++] = (td_trace_node){.key = key,
                                                 .first_begin_ns = span->begin_ns,
                                                 .name = span->name,
                                                 .id = TD_NONE,
                                                 .made_on = TD_NONE,
                                                 .graph_task = TD_NONE};
}

/* An arrow ends at the node that began at this very moment. */
static void
note_flow(td_trace_index *self, const td_lane *lane) {
  const td_frame *arrow = &lane->frames[lane->n - 1];
  uint32_t last = lane->n > ARROW_FRAMES_MAX ? lane->n - ARROW_FRAMES_MAX : 0;
  for (uint32_t i = lane->n - 1; i-- > last;) {
    const td_span *span = &lane->frames[i].span;
    if (span->begin_ns != arrow->span.begin_ns) return;
    uint64_t key = key_of(span->forward_thread, span->sequence_nr);
    const uint64_t *node = span->forward_thread ? td_number_map_find(&self->by_key, key) : NULL;
    if (!node) continue;
    *td_number_map_put(&self->by_flow, (uint64_t)arrow->span.sequence_nr) = *node;
    return;
  }
}

/* Any operator may bear the number that the next node of its thread will get: the last one does
 * make it. */
static void
note_maker(td_trace_index *self, const td_span *span) {
  if (self->has_flows || span->forward_thread) return;
  uint64_t key = key_of(span->thread, span->sequence_nr);
  if (key != NO_KEY) *td_number_map_put(&self->makers, key) = (uint64_t)span->begin_ns;
}

static void
open_cb(td_lane *lane, uint32_t thread, void *data) {
  td_trace_index *self = data;
  const td_span *span = &td_lane_top(lane)->span;
  if (span->kind == TD_SPAN_EVALUATION)
    note_node(self, span);
  else if (span->kind == TD_SPAN_FLOW_IN)
    note_flow(self, lane);
  else if (span->kind == TD_SPAN_OP)
    note_maker(self, span);
  if (span->kind <= TD_SPAN_STEP && span->kind != TD_SPAN_EVALUATION && !td_lane_evaluation(lane))
    self->n_plain[thread]++;
}

static void
close_cb(td_lane *lane, uint32_t thread, void *data) {
}

void
td_trace_index_init(td_trace_index *index, uint32_t n_threads, int64_t slack_ns, bool has_flows) {
  *index = (td_trace_index){
      .n_plain = TD_NEW_N(uint32_t, n_threads), .n_threads = n_threads, .has_flows = has_flows};
  td_nesting_init(&index->nesting, n_threads, slack_ns, open_cb, close_cb, index);
}

void
td_trace_index_fini(td_trace_index *index) {
  td_nesting_fini(&index->nesting);
  td_number_map_fini(&index->by_key);
  td_number_map_fini(&index->by_flow);
  td_number_map_fini(&index->makers);
  td_number_map_fini(&index->made);
  free(index->nodes);
  free(index->n_plain);
}

void
td_trace_index_add(td_trace_index *index, const td_span *span) {
  td_nesting_add(&index->nesting, span);
}

/* Did an operator of that thread make the node, as far as numbers and time can tell? */
static bool
could_make(const td_trace_index *self, uint32_t thread, const td_trace_node *node) {
  const uint64_t *begin = td_number_map_find(&self->makers, key_of(thread, sequence_of(node->key)));
  return begin && (int64_t)*begin < node->first_begin_ns;
}

static uint32_t
collect_making_threads(const td_trace_index *self, uint32_t *threads) {
  uint32_t n = 0;
  uint64_t *seen = TD_NEW_N(uint64_t, self->n_threads);
  for (uint32_t i = 0; i < self->makers.n; i++)
    seen[thread_of(self->makers.entries[i].key)]++;
  for (uint32_t thread = 0; thread < self->n_threads && n < MAKING_THREADS_MAX; thread++)
    if (seen[thread]) threads[n++] = thread;
  free(seen);
  return n;
}

/* The thread with the most votes for a forward thread, TD_NONE where two have as many. */
static uint32_t
elect(const td_number_map *votes, uint32_t forward_thread, const uint32_t *threads, uint32_t n) {
  uint32_t best = TD_NONE;
  uint64_t most = 0;
  for (uint32_t i = 0; i < n; i++) {
    const uint64_t *found = td_number_map_find(votes, (uint64_t)forward_thread << 32 | threads[i]);
    uint64_t here = found ? *found : 0;
    if (here > most)
      best = threads[i];
    else if (here == most)
      best = TD_NONE;
    most = TD_MAX(most, here);
  }
  return best;
}

static void
match_makers(td_trace_index *self) {
  uint32_t threads[MAKING_THREADS_MAX];
  uint32_t n = collect_making_threads(self, threads);
  td_number_map votes = {0};
  for (uint32_t i = 0; i < self->n_nodes; i++)
    for (uint32_t t = 0; t < n; t++)
      if (could_make(self, threads[t], &self->nodes[i]))
        ++*td_number_map_put(&votes, (uint64_t)thread_of(self->nodes[i].key) << 32 | threads[t]);
  uint32_t last_forward_thread = TD_NONE, thread = TD_NONE;
  for (uint32_t i = 0; i < self->n_nodes; i++) {
    uint32_t forward_thread = thread_of(self->nodes[i].key);
    if (forward_thread != last_forward_thread) thread = elect(&votes, forward_thread, threads, n);
    last_forward_thread = forward_thread;
    if (thread != TD_NONE && could_make(self, thread, &self->nodes[i]))
      *td_number_map_put(&self->made, key_of(thread, sequence_of(self->nodes[i].key))) = i;
  }
  td_number_map_fini(&votes);
}

void
td_trace_index_end(td_trace_index *index) {
  td_nesting_end(&index->nesting);
  if (!index->has_flows) match_makers(index);
}

td_trace_node *
td_trace_index_find(const td_trace_index *index, const td_span *span) {
  const uint64_t *at =
      td_number_map_find(&index->by_key, key_of(span->forward_thread, span->sequence_nr));
  td_trace_node *node = at ? &index->nodes[*at] : NULL;
  return node && node->name == span->name ? node : NULL;
}

td_trace_node *
td_trace_index_find_made(const td_trace_index *index, const td_span *span) {
  const uint64_t *at = NULL;
  if (span->kind == TD_SPAN_FLOW_OUT) {
    at = td_number_map_find(&index->by_flow, (uint64_t)span->sequence_nr);
  } else if (span->kind == TD_SPAN_OP && !index->has_flows && !span->forward_thread) {
    uint64_t key = key_of(span->thread, span->sequence_nr);
    const uint64_t *begin = td_number_map_find(&index->makers, key);
    if (begin && *begin == (uint64_t)span->begin_ns) at = td_number_map_find(&index->made, key);
  }
  return at ? &index->nodes[*at] : NULL;
}
