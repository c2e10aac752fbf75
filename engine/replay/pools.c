/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/pools.h"

uint32_t
td_task_find(const td_world *world, uint32_t node, uint32_t graph_task) {
  return td_state_task_at(&world->state, node, graph_task);
}

static uint32_t
take_task(td_world *world) {
  td_state_header *header = world->state.header;
  if (header->n_free_tasks) {
    td_world_set(world, &header->n_free_tasks, header->n_free_tasks - 1);
    return *td_state_free_task(&world->state, header->n_free_tasks);
  }
  uint32_t task = header->n_tasks_used;
  if (!td_world_grow(world, TD_WORLD_tasks, task + 1) ||
      !td_world_grow(world, TD_WORLD_free_tasks, task + 1))
    return TD_NONE;
  td_world_set(world, &header->n_tasks_used, task + 1);
  return task;
}

/* Where the tree of a node points to this task, or where it would if the task were in it. */
static uint32_t *
find_link(td_world *world, uint32_t node, uint32_t graph_task, uint32_t task) {
  uint32_t *link = &td_world_node(world, node)->task;
  for (uint32_t bits = graph_task; *link != task && *link != TD_NONE; bits >>= 1)
    link = &td_world_task(world, *link)->child[bits & 1];
  return link;
}

/* A leaf of the tree takes the task's place: any task below has the same bits up to here. */
static void
leave_tree(td_world *world, uint32_t task) {
  td_task_now *left = td_world_task(world, task), *below = left;
  uint32_t *link = find_link(world, left->node, left->graph_task, task), *last = link;
  while (below->child[0] != TD_NONE || below->child[1] != TD_NONE) {
    last = &below->child[below->child[0] == TD_NONE];
    below = td_world_task(world, *last);
  }
  uint32_t leaf = *last;
  td_world_set(world, last, TD_NONE);
  if (leaf == task) return;
  td_world_set(world, &below->child[0], left->child[0]);
  td_world_set(world, &below->child[1], left->child[1]);
  td_world_set(world, link, leaf);
}

/* The list of a pass that has the task: of the live ones, or of those whose pairs are over. */
static uint32_t *
list_of(const td_world *world, td_graph_task_now *owner, uint32_t task) {
  return td_state_task_is_over(&world->state, task) ? &owner->first_over : &owner->first_live;
}

static void
enter_pass(td_world *world, uint32_t task) {
  td_task_now *entered = td_world_task(world, task);
  td_graph_task_now *owner = td_world_graph_task(world, entered->graph_task);
  uint32_t *first = list_of(world, owner, task), newer = *first;
  if (newer) td_world_set(world, &td_world_task(world, newer - 1)->pass_prev, task);
  td_world_set(world, &entered->pass_prev, TD_NONE);
  td_world_set(world, &entered->pass_next, newer - 1);
  td_world_set(world, first, task + 1);
  if (first == &owner->first_live) td_world_set(world, &owner->n_live, owner->n_live + 1);
}

static void
leave_pass(td_world *world, uint32_t task) {
  const td_task_now *left = td_state_task(&world->state, task);
  uint32_t newer = left->pass_prev, older = left->pass_next;
  td_graph_task_now *owner = td_world_graph_task(world, left->graph_task);
  uint32_t *first = list_of(world, owner, task);
  if (newer == TD_NONE)
    td_world_set(world, first, older + 1);
  else
    td_world_set(world, &td_world_task(world, newer)->pass_next, older);
  if (older != TD_NONE) td_world_set(world, &td_world_task(world, older)->pass_prev, newer);
  if (first == &owner->first_live) td_world_set(world, &owner->n_live, owner->n_live - 1);
}

static void
set_task(td_world *world, uint32_t task, const td_task_now *value) {
  const td_word *words = (const td_word *)value;
  td_word *at = (td_word *)td_world_task(world, task);
  for (size_t i = 0; i < sizeof *value / sizeof *words; i++)
    td_world_set(world, at + i, words[i]);
}

/* Makes the task of a node in a graph task, in the list that its pair says. */
static uint32_t
make_task(td_world *world, uint32_t node, uint32_t graph_task, uint32_t pair) {
  uint32_t task = take_task(world);
  if (task == TD_NONE) return TD_NONE;
  set_task(world, task,
           &(td_task_now){.node = node,
                          .graph_task = graph_task,
                          .child = {TD_NONE, TD_NONE},
                          .pass_prev = TD_NONE,
                          .pass_next = TD_NONE,
                          .first_arrival = TD_NONE,
                          .queue = TD_NONE,
                          .parked_prev = TD_NONE,
                          .parked_next = TD_NONE,
                          .pair = pair});
  td_world_set(world, find_link(world, node, graph_task, TD_NONE), task);
  enter_pass(world, task);
  return task;
}

uint32_t
td_task_obtain(td_world *world, uint32_t node, uint32_t graph_task) {
  td_pair_take(world, node, graph_task);
  uint32_t task = td_task_find(world, node, graph_task);
  return task != TD_NONE ? task : make_task(world, node, graph_task, TD_NONE);
}

static uint32_t
take_pair(td_world *world) {
  td_state_header *header = world->state.header;
  uint32_t pair = header->free_pair;
  if (pair != TD_NONE) {
    td_world_set(world, &header->free_pair, td_state_pair_at(&world->state, pair)->thread);
    return pair;
  }
  pair = header->n_pairs_used;
  if (!td_world_grow(world, TD_WORLD_pairs, pair + 1)) return TD_NONE;
  td_world_set(world, &header->n_pairs_used, pair + 1);
  return pair;
}

static void
set_pair(td_world *world, uint32_t pair, const td_pair_now *value) {
  const td_word *words = (const td_word *)value;
  td_word *at = (td_word *)td_world_pair_at(world, pair);
  for (size_t i = 0; i < sizeof *value / sizeof *words; i++)
    td_world_set(world, at + i, words[i]);
}

static void
free_pair(td_world *world, uint32_t pair) {
  td_state_header *header = world->state.header;
  if (pair == TD_NONE) return;
  set_pair(world, pair, &(td_pair_now){.thread = header->free_pair});
  td_world_set(world, &header->free_pair, pair);
}

static void
free_arrivals(td_world *world, uint32_t task) {
  td_state_header *header = world->state.header;
  uint32_t first = td_state_task(&world->state, task)->first_arrival, last = first, next;
  if (first == TD_NONE) return;
  while ((next = td_state_arrival(&world->state, last)->next) != TD_NONE)
    last = next;
  td_world_set(world, &td_world_arrival(world, last)->next, header->free_arrival);
  td_world_set(world, &header->free_arrival, first);
  td_world_set(world, &td_world_task(world, task)->first_arrival, TD_NONE);
}

/* What lies in no task is as before any event: a page of such tasks costs a checkpoint nothing. */
void
td_task_drop(td_world *world, uint32_t task) {
  td_state_header *header = world->state.header;
  td_task_unpark(world, task);
  free_arrivals(world, task);
  leave_tree(world, task);
  leave_pass(world, task);
  free_pair(world, td_state_task(&world->state, task)->pair);
  set_task(world, task, td_world_first_task(world));
  td_world_set(world, td_world_free_task(world, header->n_free_tasks), task);
  td_world_set(world, &header->n_free_tasks, header->n_free_tasks + 1);
}

void
td_task_park(td_world *world, uint32_t task) {
  td_state_header *header = world->state.header;
  if (td_state_task(&world->state, task)->parked) return;
  td_task_now *parked = td_world_task(world, task);
  td_graph_task_now *owner = td_world_graph_task(world, parked->graph_task);
  uint32_t last = header->last_parked;
  td_world_set(world, &parked->parked, 1);
  td_world_set(world, &parked->parked_prev, last);
  td_world_set(world, &parked->parked_next, TD_NONE);
  td_world_set(world,
               last == TD_NONE ? &header->first_parked : &td_world_task(world, last)->parked_next,
               task);
  td_world_set(world, &header->last_parked, task);
  td_world_set(world, &owner->n_parked, owner->n_parked + 1);
}

void
td_task_unpark(td_world *world, uint32_t task) {
  td_state_header *header = world->state.header;
  if (!td_state_task(&world->state, task)->parked) return;
  td_task_now *parked = td_world_task(world, task);
  td_graph_task_now *owner = td_world_graph_task(world, parked->graph_task);
  uint32_t before = parked->parked_prev, after = parked->parked_next;
  td_world_set(
      world, before == TD_NONE ? &header->first_parked : &td_world_task(world, before)->parked_next,
      after);
  td_world_set(world,
               after == TD_NONE ? &header->last_parked : &td_world_task(world, after)->parked_prev,
               before);
  td_world_set(world, &parked->parked, 0);
  td_world_set(world, &owner->n_parked, owner->n_parked - 1);
}

void
td_task_finish(td_world *world, uint32_t task) {
  uint32_t pair = td_state_task(&world->state, task)->pair;
  if (pair == TD_NONE) {
    td_task_drop(world, task);
    return;
  }
  td_task_unpark(world, task);
  free_arrivals(world, task);
  leave_pass(world, task);
  td_pair_now over = *td_state_pair_at(&world->state, pair);
  over.is_over = true;
  set_pair(world, pair, &over);
  enter_pass(world, task);
}

/* ---- pairs ---- */

static bool
is_pass_over(const td_world *world, uint32_t graph_task) {
  return td_state_graph_task(&world->state, graph_task)->status > TD_PASS_RUNNING;
}

/* Puts the node's own pair into `pairs`, unless its pass is over. A pair without a live task is
 * over, and needs a task to be found by. */
static void
set_aside(td_world *world, uint32_t node) {
  const td_node_now *now = td_state_node(&world->state, node);
  uint32_t own = now->graph_task, task, pair;
  if (own == TD_NONE) return;
  task = td_state_task_of_pair(&world->state, node, own);
  if (task == TD_NONE && is_pass_over(world, own)) return;
  const td_run_now *run = td_state_run(&world->state, node);
  td_pair_now aside = {
      .begin_ns = run->begin_ns,
      .end_ns = run->end_ns,
      .thread = now->thread,
      .state = now->state == TD_NODE_released ? now->before : now->state,
      .is_over = task == TD_NONE,
      .is_known = true,
  };
  pair = take_pair(world);
  if (pair == TD_NONE) return;
  set_pair(world, pair, &aside);
  if (task == TD_NONE && make_task(world, node, own, pair) == TD_NONE)
    free_pair(world, pair);
  else if (task != TD_NONE)
    td_world_set(world, &td_world_task(world, task)->pair, pair);
}

static void
set_own(td_world *world, uint32_t node, const td_pair_now *pair, uint32_t graph_task) {
  td_node_now *now = td_world_node(world, node), changed = *now;
  td_run_now *run = td_world_run_of(world, node);
  changed.state = pair->state;
  td_world_set(world, (td_word *)now, *(td_word *)&changed);
  td_world_set(world, &now->thread, pair->thread);
  td_world_set(world, &now->graph_task, graph_task);
  td_world_set_u64(world, &run->begin_ns, pair->begin_ns);
  td_world_set_u64(world, &run->end_ns, pair->end_ns);
}

void
td_pair_take(td_world *world, uint32_t node, uint32_t graph_task) {
  const td_node_now *now = td_state_node(&world->state, node);
  if (now->graph_task == graph_task) return;
  set_aside(world, node);
  uint32_t task = td_state_task_of_pair(&world->state, node, graph_task);
  uint32_t aside = task == TD_NONE ? TD_NONE : td_state_task(&world->state, task)->pair;
  bool is_absent = td_state_node(&world->state, node)->state == TD_NODE_absent;
  td_pair_now pair = {.state = is_absent ? TD_NODE_absent : TD_NODE_created, .thread = TD_NONE};
  if (aside != TD_NONE) pair = *td_state_pair_at(&world->state, aside);
  set_own(world, node, &pair, graph_task);
  if (pair.is_over) {
    td_task_drop(world, task);
  } else if (aside != TD_NONE) {
    free_pair(world, aside);
    td_world_set(world, &td_world_task(world, task)->pair, TD_NONE);
  }
}

static uint32_t
take_arrival(td_world *world) {
  td_state_header *header = world->state.header;
  uint32_t arrival = header->free_arrival;
  if (arrival != TD_NONE) {
    td_world_set(world, &header->free_arrival, td_state_arrival(&world->state, arrival)->next);
    return arrival;
  }
  arrival = header->n_arrivals_used;
  if (!td_world_grow(world, TD_WORLD_arrivals, arrival + 1)) return TD_NONE;
  td_world_set(world, &header->n_arrivals_used, arrival + 1);
  return arrival;
}

bool
td_arrival_add(td_world *world, uint32_t task, const td_event_buffer_add *event) {
  uint32_t arrival = take_arrival(world);
  if (arrival == TD_NONE) return false;
  td_arrival_now *now = td_world_arrival(world, arrival);
  td_task_now *owner = td_world_task(world, task);
  td_world_set(world, &now->from, event->from);
  td_world_set(world, &now->input_nr, event->input_nr);
  td_world_set(world, &now->next, owner->first_arrival);
  td_world_set(world, &now->bytes, event->bytes);
  td_world_set(world, &now->mode, event->mode);
  td_world_set(world, &owner->first_arrival, arrival);
  return true;
}
