/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/tracker.h"

#include "engine/base/alloc.h"
#include "engine/rules/task_order.h"

#include <string.h>

enum { LONG_QUEUE = 4096 }; /* tasks */

/* ---- words ---- */

static void
add_word(td_page_tracker *self, int64_t word) {
  td_page_changes *changes = self->changes;
  TD_GROW(changes->words, changes->n_words, changes->word_capacity);
  changes->words[changes->n_words++] = word;
}

static void
add_words(td_page_tracker *self, const int64_t *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    add_word(self, words[i]);
}

#define ADD_WORDS(self, ...)                                                                       \
  add_words((self), (const int64_t[]){__VA_ARGS__},                                                \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* 1 + a number, or 0 for none. */
static int64_t
or_none(uint32_t number) {
  return number == TD_NONE ? 0 : 1 + (int64_t)number;
}

static int64_t
place_of(const td_page_tracker *self, uint32_t node) {
  return or_none(td_page_nodes_find(self->nodes, node));
}

/* ---- nodes and edges ---- */

static td_page_node_now
look_at_pair(const td_state *state, uint32_t node, uint32_t graph_task) {
  const td_node_now *now = td_state_node(state, node);
  const td_task_now *task = td_state_task_find(state, node, graph_task);
  td_pair_now pair = td_state_pair(state, node, graph_task);
  td_page_node_now seen = {.state = pair.state,
                           .thread = pair.thread,
                           .flags = 2u * now->anomaly + 16u * now->birthplace};
  if (!task) return seen;
  seen.expected = task->expected;
  seen.arrived = task->expected - TD_MIN(task->dependencies, task->expected);
  seen.flags |= task->parked ? 1 : 0;
  return seen;
}

/* The graphs that have a node of the page: *n of them, from `first` of the places on. */
static uint32_t
places_of(const td_page_tracker *self, uint32_t place, uint32_t *n) {
  const td_page_graphs *graphs = self->graphs;
  bool is_linked = place < graphs->n_linked;
  *n = is_linked ? graphs->first_place[place + 1] - graphs->first_place[place] : 0;
  return is_linked ? graphs->first_place[place] : 0;
}

/* A node of a graph is shown as it is in that pass while that is under way. Before it takes part
 * there, and when the pass is over, it is as other passes leave it. */
static td_page_node_now
look_at_place(const td_page_tracker *self, uint32_t place, uint32_t i) {
  uint32_t pass = self->graphs->items[self->graphs->places[i]].graph_task;
  const td_state *state = td_replay_state(self->replay);
  uint32_t node = self->nodes->ids[place];
  bool runs = td_state_graph_task(state, pass)->status == TD_PASS_RUNNING;
  bool is_there = td_state_pair(state, node, pass).state != TD_NODE_created;
  bool is_elsewhere = td_state_task_find(state, node, TD_NONE) != NULL;
  return look_at_pair(state, node, runs && (is_there || is_elsewhere) ? pass : TD_NONE);
}

static td_page_node_now
look_at_node(const td_page_tracker *self, uint32_t place) {
  uint32_t n, first = places_of(self, place, &n);
  return n == 1 ? look_at_place(self, place, first)
                : look_at_pair(td_replay_state(self->replay), self->nodes->ids[place], TD_NONE);
}

static void
tell_node(td_page_tracker *self, uint32_t place, const td_page_node_now *now) {
  ADD_WORDS(self, TD_PAGE_NODE, place, now->state, now->arrived, now->expected,
            or_none(now->thread), now->flags);
}

static void
tell_pair(td_page_tracker *self, uint32_t place, uint32_t i, const td_page_node_now *now) {
  ADD_WORDS(self, TD_PAGE_PAIR, place, self->graphs->places[i], now->state, now->arrived,
            now->expected, or_none(now->thread), now->flags);
}

/* New nodes of the page are as they are before the event that names them. */
static void
learn_nodes(td_page_tracker *self) {
  for (; self->n_nodes < self->nodes->n; self->n_nodes++) {
    uint32_t n = self->n_nodes;
    TD_GROW(self->nodes_now, n, self->now_capacity);
    TD_GROW(self->nodes_first, n, self->first_capacity);
    self->nodes_now[n] = self->nodes_first[n] = look_at_node(self, n);
  }
}

static void
compare_edges(td_page_tracker *self, uint32_t place) {
  const td_page_graphs *graphs = self->graphs;
  const td_state *state = td_replay_state(self->replay);
  if (place >= graphs->n_linked) return;
  for (uint32_t i = graphs->first_link[place]; i < graphs->first_link[place + 1]; i++) {
    uint32_t edge = graphs->links[i];
    bool moved = td_page_graphs_moved(graphs, state, edge);
    if (moved == self->edges_now[edge]) continue;
    self->edges_now[edge] = moved;
    ADD_WORDS(self, TD_PAGE_EDGE, edge, moved);
  }
}

/* Whether the state is another one; counts and thread may be, too. */
static bool
compare_pairs(td_page_tracker *self, uint32_t place) {
  uint32_t n, first = places_of(self, place, &n);
  bool is_other_state = false;
  for (uint32_t i = first; n > 1 && i < first + n; i++) {
    td_page_node_now seen = look_at_place(self, place, i), *known = &self->pairs_now[i];
    if (memcmp(&seen, known, sizeof seen) == 0) continue;
    is_other_state |= seen.state != known->state;
    *known = seen;
    tell_pair(self, place, i, &seen);
  }
  return is_other_state;
}

static void
compare_node(td_page_tracker *self, uint32_t place) {
  td_page_node_now seen = look_at_node(self, place), *known = &self->nodes_now[place];
  bool is_other_state = compare_pairs(self, place);
  if (memcmp(&seen, known, sizeof seen) != 0) {
    is_other_state |= seen.state != known->state;
    *known = seen;
    tell_node(self, place, &seen);
  }
  if (is_other_state) compare_edges(self, place);
}

/* A gradient arrived: of the node's many edges, only those from its sender can have moved. */
static void
compare_arrival(td_page_tracker *self, const td_event_buffer_add *event) {
  const td_page_graphs *graphs = self->graphs;
  uint32_t from = td_page_nodes_find(self->nodes, event->from);
  uint32_t to = td_page_nodes_find(self->nodes, event->node);
  if (from == TD_NONE || from >= graphs->n_linked) return;
  for (uint32_t i = graphs->first_link[from]; i < graphs->first_link[from + 1]; i++) {
    uint32_t edge = graphs->links[i];
    if (graphs->edges[edge].to != to) continue;
    bool moved = td_page_graphs_moved(graphs, td_replay_state(self->replay), edge);
    if (moved == self->edges_now[edge]) continue;
    self->edges_now[edge] = moved;
    ADD_WORDS(self, TD_PAGE_EDGE, edge, moved);
  }
}

/* ---- queues ---- */

/* Of a very long queue only the next task, which costs nothing. */
static td_page_queue_now
look_at_queue(const td_page_tracker *self, uint32_t queue) {
  const td_state *state = td_replay_state(self->replay);
  td_page_queue_now seen = {.length = td_state_queue(state, queue)->n};
  seen.n = TD_MIN(seen.length, seen.length > LONG_QUEUE ? 1u : (uint32_t)TD_PAGE_TASKS);
  if (seen.length > LONG_QUEUE)
    seen.first[0] = *td_state_entry(state, td_state_queue(state, queue)->first);
  else if (seen.n)
    td_state_queue_first(state, td_replay_catalog(self->replay), queue, seen.n, seen.first);
  return seen;
}

static bool
is_same_task(const td_queue_entry *a, const td_queue_entry *b) {
  return a->node == b->node && a->graph_task == b->graph_task && a->kind == b->kind;
}

static int64_t
entry_word(const td_page_tracker *self, const td_queue_entry *entry) {
  if (entry->node == TD_NONE) return entry->kind == TD_TASK_SHUTDOWN ? -1 : 0;
  int64_t place = place_of(self, entry->node);
  return place ? place : -2;
}

/* The stretch in which two orders differ. */
static void
tell_queue(td_page_tracker *self, uint32_t queue, const td_page_queue_now *before,
           const td_page_queue_now *after) {
  uint32_t least = TD_MIN(before->n, after->n), head = 0, tail = 0;
  while (head < least && is_same_task(&before->first[head], &after->first[head]))
    head++;
  while (tail < least - head &&
         is_same_task(&before->first[before->n - 1 - tail], &after->first[after->n - 1 - tail]))
    tail++;
  uint32_t n_left = before->n - head - tail, n_came = after->n - head - tail;
  if (n_left + n_came == 0 && before->length == after->length) return;
  self->changes->has_queue[queue] = true;
  ADD_WORDS(self, TD_PAGE_QUEUE, queue, after->length, head, n_left, n_came);
  for (uint32_t i = 0; i < n_came; i++)
    add_word(self, entry_word(self, &after->first[head + i]));
}

static void
compare_queue(td_page_tracker *self, uint32_t queue) {
  td_page_queue_now seen = look_at_queue(self, queue);
  tell_queue(self, queue, &self->queues_now[queue], &seen);
  self->queues_now[queue] = seen;
}

/* ---- threads and passes ---- */

static td_page_thread_now
look_at_thread(const td_page_tracker *self, uint32_t thread) {
  const td_thread_now *now = td_state_thread(td_replay_state(self->replay), thread);
  return (td_page_thread_now){now->state, now->node, now->lock};
}

static void
tell_thread(td_page_tracker *self, uint32_t thread, const td_page_thread_now *now) {
  self->changes->has_thread[thread] = true;
  ADD_WORDS(self, TD_PAGE_THREAD, thread, now->state, place_of(self, now->node),
            or_none(now->lock));
}

static void
compare_thread(td_page_tracker *self, uint32_t thread) {
  td_page_thread_now seen = look_at_thread(self, thread);
  if (memcmp(&seen, &self->threads_now[thread], sizeof seen) == 0) return;
  self->threads_now[thread] = seen;
  tell_thread(self, thread, &seen);
}

static td_page_pass_now
look_at_pass(const td_page_tracker *self, uint32_t graph) {
  const td_graph_task_now *now =
      td_state_graph_task(td_replay_state(self->replay), self->graphs->items[graph].graph_task);
  return (td_page_pass_now){now->status, now->outstanding, now->n_done};
}

static void
compare_pass(td_page_tracker *self, uint32_t graph) {
  td_page_pass_now seen = look_at_pass(self, graph);
  if (memcmp(&seen, &self->passes_now[graph], sizeof seen) == 0) return;
  self->passes_now[graph] = seen;
  ADD_WORDS(self, TD_PAGE_PASS, graph, seen.status, seen.outstanding, seen.n_done);
}

/* ---- an event ---- */

static void
touch(td_page_tracker *self, uint32_t node) {
  uint32_t place = td_page_nodes_put(self->nodes, node);
  if (place == TD_NONE) return;
  TD_GROW(self->touched, self->n_touched, self->touched_capacity);
  self->touched[self->n_touched++] = place;
}

static void
touch_node_of_thread(td_page_tracker *self, uint32_t thread) {
  if (thread < td_replay_catalog(self->replay)->n_threads)
    touch(self, td_state_thread(td_replay_state(self->replay), thread)->node);
}

void
td_page_tracker_expect(td_page_tracker *self, const td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  self->n_touched = 0;
  touch_node_of_thread(self, event->event.thread);
  for (uint16_t i = 0; i < type->n_fields; i++)
    if (type->fields[i].space == TD_ID_NODE)
      touch(self, (uint32_t)td_event_field_get(&event->event, &type->fields[i]));
  learn_nodes(self);
}

/* The end of a pass drops the tasks that are left. */
static void
compare_nodes(td_page_tracker *self, const td_any_event *event) {
  if (event->event.kind == TD_EVENT_graph_task_end) {
    for (uint32_t i = 0; i < self->n_nodes; i++)
      compare_node(self, i);
    return;
  }
  for (uint32_t i = 0; i < self->n_touched; i++)
    compare_node(self, self->touched[i]);
  if (event->event.kind == TD_EVENT_buffer_add) compare_arrival(self, &event->buffer_add);
}

static void
compare_named(td_page_tracker *self, td_id_space space, uint32_t id) {
  const td_catalog *catalog = td_replay_catalog(self->replay);
  uint32_t graph = TD_NONE;
  if (space == TD_ID_QUEUE && id < catalog->n_queues) compare_queue(self, id);
  if (space == TD_ID_THREAD && id < catalog->n_threads) compare_thread(self, id);
  if (space == TD_ID_GRAPH_TASK) graph = td_page_graphs_find(self->graphs, id);
  if (graph != TD_NONE) compare_pass(self, graph);
}

void
td_page_tracker_compare(td_page_tracker *self, const td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  compare_nodes(self, event);
  compare_named(self, TD_ID_THREAD, event->event.thread);
  for (uint16_t i = 0; i < type->n_fields; i++)
    compare_named(self, type->fields[i].space,
                  (uint32_t)td_event_field_get(&event->event, &type->fields[i]));
}

/* ---- the beginning ---- */

static void
learn_pairs(td_page_tracker *self) {
  uint32_t n_places = self->graphs->first_place[self->graphs->n_linked], n;
  self->pairs_now = TD_NEW_N(td_page_node_now, n_places + 1);
  self->pairs_first = TD_NEW_N(td_page_node_now, n_places + 1);
  for (uint32_t place = 0; place < self->graphs->n_linked; place++) {
    uint32_t first = places_of(self, place, &n);
    for (uint32_t i = first; i < first + n; i++)
      self->pairs_now[i] = self->pairs_first[i] = look_at_place(self, place, i);
  }
}

static void
tell_first_pairs(td_page_tracker *self, uint32_t place) {
  uint32_t n, first = places_of(self, place, &n);
  for (uint32_t i = first; n > 1 && i < first + n; i++)
    tell_pair(self, place, i, &self->pairs_first[i]);
}

void
td_page_tracker_init(td_page_tracker *self, td_page_changes *changes, td_replay *replay,
                     td_page_nodes *nodes, const td_page_graphs *graphs) {
  const td_catalog *catalog = td_replay_catalog(replay);
  *self = (td_page_tracker){.changes = changes, .replay = replay, .nodes = nodes, .graphs = graphs};
  self->edges_now = TD_NEW_N(bool, graphs->n_edges + 1);
  self->edges_first = TD_NEW_N(bool, graphs->n_edges + 1);
  self->queues_now = TD_NEW_N(td_page_queue_now, catalog->n_queues + 1);
  self->queues_first = TD_NEW_N(td_page_queue_now, catalog->n_queues + 1);
  self->threads_now = TD_NEW_N(td_page_thread_now, catalog->n_threads + 1);
  self->threads_first = TD_NEW_N(td_page_thread_now, catalog->n_threads + 1);
  self->passes_now = TD_NEW_N(td_page_pass_now, graphs->n + 1);
  self->passes_first = TD_NEW_N(td_page_pass_now, graphs->n + 1);
  learn_nodes(self);
  learn_pairs(self);
  for (uint32_t i = 0; i < graphs->n_edges; i++)
    self->edges_now[i] = self->edges_first[i] =
        td_page_graphs_moved(graphs, td_replay_state(replay), i);
  for (uint32_t i = 0; i < catalog->n_queues; i++) {
    self->queues_now[i] = self->queues_first[i] = look_at_queue(self, i);
  }
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    self->threads_now[i] = self->threads_first[i] = look_at_thread(self, i);
  for (uint32_t i = 0; i < graphs->n; i++)
    self->passes_now[i] = self->passes_first[i] = look_at_pass(self, i);
}

void
td_page_tracker_write_beginning(td_page_tracker *self) {
  static const td_page_queue_now empty = {0};
  const td_catalog *catalog = td_replay_catalog(self->replay);
  for (uint32_t i = 0; i < self->n_nodes; i++) {
    tell_node(self, i, &self->nodes_first[i]);
    tell_first_pairs(self, i);
  }
  for (uint32_t i = 0; i < self->graphs->n_edges; i++)
    if (self->edges_first[i]) ADD_WORDS(self, TD_PAGE_EDGE, i, 1);
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    tell_queue(self, i, &empty, &self->queues_first[i]);
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    if (self->changes->has_thread[i] || self->threads_first[i].state != TD_thread_activity_outside)
      tell_thread(self, i, &self->threads_first[i]);
  for (uint32_t i = 0; i < self->graphs->n; i++) {
    const td_page_pass_now *first = &self->passes_first[i];
    ADD_WORDS(self, TD_PAGE_PASS, i, first->status, first->outstanding, first->n_done);
  }
}

void
td_page_tracker_fini(td_page_tracker *self) {
  void *owned[] = {self->nodes_now,  self->nodes_first,  self->edges_now,   self->edges_first,
                   self->queues_now, self->queues_first, self->threads_now, self->threads_first,
                   self->passes_now, self->passes_first, self->pairs_now,   self->pairs_first,
                   self->touched};
  for (size_t i = 0; i < TD_N_ELEMENTS(owned); i++)
    free(owned[i]);
}
