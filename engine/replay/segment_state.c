/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/segment_state.h"

#include "engine/base/alloc.h"

#include <string.h>

typedef struct putter {
  td_keyframe *keyframe;
  const td_state *state;
  const td_catalog *catalog;
  td_number_map declared; /* (owned) the nodes that the keyframe has */
  uint64_t seq;
  uint32_t thread;
} putter;

bool
td_segment_state_is_quiet(const td_state *state, const td_catalog *catalog) {
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    if (td_state_queue(state, i)->n) return false;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++)
    if (td_state_graph_task_row(state, i)->n_live) return false;
  return true;
}

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

static void
put_nodes(const putter *self) {
  for (uint32_t row = 0; row < self->catalog->n_nodes; row++) {
    const td_catalog_node *facts = &self->catalog->node_rows[row];
    const td_node_now *now = td_state_node_row(self->state, row);
    if (!lives(&self->declared, facts, now)) continue;
    PUT(self, node_now, .node = facts->id, .state = now->state, .runner = now->thread,
        .anomaly = now->anomaly, .birthplace = now->birthplace, .begin_ns = now->begin_ns,
        .end_ns = now->end_ns);
  }
}

static void
put_queues(const putter *self) {
  for (uint32_t i = 0; i < self->catalog->n_queues; i++) {
    const td_queue_now *now = td_state_queue(self->state, i);
    if (self->catalog->queues[i].named && now->n_pushed)
      PUT(self, queue_now, .queue = i, .pushed = now->n_pushed, .popped = now->n_popped,
          .last_node = if_declared(self, now->last_node), .last_pop_seq = now->last_pop_seq,
          .most = self->catalog->queues[i].max_size);
  }
}

static void
put_threads(const putter *self) {
  for (uint32_t i = 0; i < self->catalog->n_threads; i++) {
    const td_thread_now *now = td_state_thread(self->state, i);
    if (self->catalog->threads[i].named)
      PUT(self, thread_now, .id = i, .state = now->state, .node = if_declared(self, now->node),
          .lock = now->lock, .since_ns = now->since_ns);
  }
}

void
td_segment_state_put(td_keyframe *keyframe, const td_state *state, const td_catalog *catalog,
                     uint64_t seq, uint32_t thread) {
  putter self = {keyframe, state, catalog, find_declared(keyframe), seq, thread};
  const td_state_header *header = state->header;
  put_nodes(&self);
  put_queues(&self);
  put_threads(&self);
  PUT(&self, totals_now, .n_anomalies = header->n_anomalies, .step = header->step,
      .current_node = if_declared(&self, header->current_node),
      .passes = catalog->n_passes_before + (uint32_t)catalog->n_by_kind[TD_EVENT_graph_task_begin]);
  td_number_map_fini(&self.declared);
}
