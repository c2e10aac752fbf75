/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/segment_state.h"

#include "engine/base/alloc.h"

#include <stdlib.h>
#include <string.h>

typedef struct putter {
  td_keyframe *keyframe;
  const td_state *state;
  const td_catalog *catalog;
  td_number_map declared; /* (owned) the nodes that the keyframe has */
  uint64_t seq;
  uint32_t thread;
} putter;

/* The kind of the event that `of` names, with its fields. */
#define PUT(self, of, ...)                                                                         \
  do {                                                                                             \
    td_event_##of event = {__VA_ARGS__};                                                           \
    event.event = (td_event){.kind = TD_EVENT_##of,                                                \
                             .size = sizeof event,                                                 \
                             .thread = (self)->thread,                                             \
                             .time = (self)->state->header->time_ns};                              \
    td_keyframe_put((self)->keyframe, &event.event, (self)->seq);                                  \
  } while (0)

/* The nodes that the keyframe declares. */
static td_number_map
find_declared(const td_keyframe *keyframe) {
  td_number_map declared = {0};
  TD_PILE_EACH(&keyframe->events, event)
  if (event->kind == TD_EVENT_node_new)
    td_number_map_put(&declared, ((const td_event_node_new *)event)->node);
  return declared;
}

/* Some nodes no event has declared: those of a recording that began late. */
static bool
lives(const td_number_map *declared, const td_catalog_node *facts, const td_node_now *now) {
  if (td_number_map_find(declared, facts->id)) return true;
  bool is_there = now->state != TD_NODE_absent && now->state != TD_NODE_released;
  return is_there && facts->created_seq == UINT64_MAX;
}

static uint32_t
if_declared(const putter *self, uint32_t node) {
  return td_number_map_find(&self->declared, node) ? node : TD_NONE;
}

/* A pass that goes on, or that has begun to begin, or whose tasks still lie in a queue. */
static bool
is_under_way(const td_graph_task_now *now, const td_catalog_graph_task *facts) {
  bool is_entered = facts->outer != TD_NONE || facts->caller != TD_NONE;
  return now->status == TD_PASS_RUNNING || now->n_live > 0 ||
         (now->status == TD_PASS_NOT_BEGUN && is_entered);
}

static bool
row_is_under_way(const putter *self, uint32_t row) {
  return is_under_way(td_state_graph_task_row(self->state, row),
                      &self->catalog->graph_task_rows[row]);
}

static bool
is_pass_under_way(const putter *self, uint32_t graph_task) {
  uint32_t row = td_catalog_graph_task_row(self->catalog, graph_task);
  return row != TD_NO_ROW && row_is_under_way(self, row);
}

static void
put_pass(const putter *self, uint32_t row) {
  const td_catalog_graph_task *facts = &self->catalog->graph_task_rows[row];
  const td_graph_task_now *now = td_state_graph_task_row(self->state, row);
  bool is_over = now->status > TD_PASS_RUNNING;
  PUT(self, pass_now, .graph_task = facts->id, .depth = facts->depth, .owner = facts->owner,
      .keep_graph = facts->keep_graph, .create_graph = facts->create_graph,
      .accumulate_grad = facts->accumulate_grad, .root = facts->root, .n_roots = facts->n_roots,
      .n_outputs = facts->n_outputs, .outer = facts->outer, .caller = facts->caller,
      .status = now->status, .outstanding = now->outstanding, .done = now->n_done,
      .begin = facts->begin_seq, .end = is_over ? facts->end_seq : UINT64_MAX);
}

static void
put_passes(const putter *self) {
  for (uint32_t row = 0; row < self->catalog->n_graph_tasks; row++)
    if (row_is_under_way(self, row)) put_pass(self, row);
}

static void
put_runs(const putter *self) {
  const td_catalog *catalog = self->catalog;
  for (uint32_t row = 0; row < catalog->n_graph_tasks; row++) {
    const td_catalog_graph_task *facts = &catalog->graph_task_rows[row];
    for (uint32_t i = 0; row_is_under_way(self, row) && i < facts->n_ran; i++)
      PUT(self, ran_now, .node = catalog->ran[facts->first_ran + i], .graph_task = facts->id);
  }
}

/* From the oldest arrival on, as they came. */
static void
put_arrivals(const putter *self, const td_task_now *task) {
  uint32_t n = 0, *arrivals = NULL;
  for (uint32_t i = task->first_arrival; i != TD_NONE; i = td_state_arrival(self->state, i)->next)
    n++;
  arrivals = TD_NEW_N(uint32_t, n);
  uint32_t at = n;
  for (uint32_t i = task->first_arrival; i != TD_NONE; i = td_state_arrival(self->state, i)->next)
    arrivals[--at] = i;
  for (uint32_t i = 0; i < n; i++) {
    const td_arrival_now *now = td_state_arrival(self->state, arrivals[i]);
    PUT(self, buffer_add, .node = task->node, .graph_task = task->graph_task,
        .input_nr = now->input_nr, .from = now->from, .mode = now->mode, .bytes = now->bytes);
  }
  free(arrivals);
}

static void
put_task(const putter *self, const td_task_now *task) {
  PUT(self, dependency, .graph_task = task->graph_task, .node = task->node,
      .count = task->expected);
  if (task->dependencies != task->expected)
    PUT(self, dependency_dec, .node = task->node, .graph_task = task->graph_task,
        .left = task->dependencies, .by = TD_NONE);
  put_arrivals(self, task);
}

/* A node's last task says in which pass it took part last. */
static void
put_tasks(const putter *self, bool last) {
  for (uint32_t row = 0; row < self->catalog->n_graph_tasks; row++)
    for (uint32_t i = td_state_graph_task_row(self->state, row)->first_live; i;) {
      const td_task_now *task = td_state_task(self->state, i - 1);
      bool is_last = td_state_node(self->state, task->node)->graph_task == task->graph_task;
      if (is_last == last) put_task(self, task);
      i = task->pass_next + 1;
    }
}

static void
put_parked(const putter *self) {
  for (uint32_t i = self->state->header->first_parked; i != TD_NONE;
       i = td_state_task(self->state, i)->parked_next) {
    const td_task_now *task = td_state_task(self->state, i);
    PUT(self, buffer_park, .node = task->node, .graph_task = task->graph_task);
  }
}

static void
put_entries(const putter *self) {
  for (uint32_t queue = 0; queue < self->catalog->n_queues; queue++)
    for (uint32_t i = 0; i < td_state_queue(self->state, queue)->n; i++) {
      const td_queue_entry *entry =
          td_state_entry(self->state, td_state_queue(self->state, queue)->first + i);
      PUT(self, entry_now, .queue = queue, .node = entry->node, .graph_task = entry->graph_task,
          .kind_of_task = entry->kind, .order = entry->order);
    }
}

static void
put_pair(const putter *self, uint32_t node, uint32_t graph_task, const td_pair_now *pair) {
  PUT(self, pair_now, .node = node, .graph_task = graph_task, .state = pair->state,
      .runner = pair->thread, .begin_ns = pair->begin_ns, .end_ns = pair->end_ns);
}

/* What a node ended as without running, no ran_now says. */
static bool
has_not_run(const td_node_now *now) {
  return now->state == TD_NODE_skipped || now->state == TD_NODE_captured ||
         now->state == TD_NODE_failed;
}

/* The node's own pair. */
static void
put_own(const putter *self, uint32_t node) {
  const td_node_now *now = td_state_node(self->state, node);
  const td_run_now *run = td_state_run(self->state, node);
  const td_pair_now pair = {
      .begin_ns = run->begin_ns, .end_ns = run->end_ns, .thread = now->thread, .state = now->state};
  put_pair(self, node, is_pass_under_way(self, now->graph_task) ? now->graph_task : TD_NONE, &pair);
}

static void
put_nodes(const putter *self) {
  for (uint32_t row = 0; row < self->catalog->n_nodes; row++) {
    const td_catalog_node *facts = &self->catalog->node_rows[row];
    const td_node_now *now = td_state_node_row(self->state, row);
    const td_run_now *run = td_state_run_row(self->state, row);
    if (!lives(&self->declared, facts, now)) continue;
    PUT(self, node_now, .node = facts->id, .state = now->state, .runner = now->thread,
        .anomaly = now->anomaly, .birthplace = now->birthplace, .begin_ns = run->begin_ns,
        .end_ns = run->end_ns);
    if (has_not_run(now) && is_pass_under_way(self, now->graph_task)) put_own(self, facts->id);
  }
}

/* The pairs of a list of tasks that were set aside, or the own pairs of their nodes. */
static void
put_pairs_of(const putter *self, uint32_t first, bool own) {
  for (uint32_t i = first; i; i = td_state_task(self->state, i - 1)->pass_next + 1) {
    const td_task_now *task = td_state_task(self->state, i - 1);
    if (task->pair == TD_NONE || if_declared(self, task->node) == TD_NONE) continue;
    if (own)
      put_own(self, task->node);
    else
      put_pair(self, task->node, task->graph_task, td_state_pair_at(self->state, task->pair));
  }
}

static void
put_pairs(const putter *self, bool own) {
  for (uint32_t row = 0; row < self->catalog->n_graph_tasks; row++) {
    const td_graph_task_now *now = td_state_graph_task_row(self->state, row);
    put_pairs_of(self, now->first_live, own);
    put_pairs_of(self, now->first_over, own);
  }
}

static void
put_queues(const putter *self) {
  for (uint32_t i = 0; i < self->catalog->n_queues; i++) {
    const td_queue_now *now = td_state_queue(self->state, i);
    if (self->catalog->queues[i].named && now->n_pushed)
      PUT(self, queue_now, .queue = i, .pushed = now->n_pushed, .popped = now->n_popped,
          .last_node = if_declared(self, now->last_node), .last_pop_seq = now->last_pop_seq,
          .last_depth = now->last_depth, .most = self->catalog->queues[i].max_size);
  }
}

static void
put_threads(const putter *self) {
  for (uint32_t i = 0; i < self->catalog->n_threads; i++) {
    const td_thread_now *now = td_state_thread(self->state, i);
    if (self->catalog->threads[i].named)
      PUT(self, thread_now, .id = i, .state = now->state, .node = if_declared(self, now->node),
          .lock = now->lock, .since_ns = now->since_ns);
    if (self->catalog->threads[i].named && is_pass_under_way(self, now->graph_task))
      PUT(self, work_now, .id = i, .graph_task = now->graph_task);
  }
}

void
td_segment_state_put(td_keyframe *keyframe, const td_state *state, const td_catalog *catalog,
                     uint64_t seq, uint32_t thread) {
  putter self = {keyframe, state, catalog, find_declared(keyframe), seq, thread};
  const td_state_header *header = state->header;
  put_passes(&self);
  put_runs(&self);
  put_tasks(&self, false);
  put_tasks(&self, true);
  put_parked(&self);
  put_entries(&self);
  put_nodes(&self);
  put_pairs(&self, false);
  put_pairs(&self, true);
  put_queues(&self);
  put_threads(&self);
  PUT(&self, totals_now, .n_anomalies = header->n_anomalies, .step = header->step,
      .current_node = if_declared(&self, header->current_node),
      .passes = td_catalog_n_passes_begun(catalog), .n_contradictions = header->contradictions.n,
      .contradiction = header->contradictions.first, .why = header->contradictions.why,
      .contradicted = header->contradictions.state);
  td_number_map_fini(&self.declared);
}
