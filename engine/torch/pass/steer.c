/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/steer.h"

#include "engine/base/alloc.h"
#include "engine/control/gate.h"
#include "engine/torch/pass/queue_list.h"

#include <stdlib.h>

static bool
is_key_of(const td_task_key *key, const td_node_task *task) {
  return key->node && key->node == task->node && key->graph_task == task->graph_task;
}

/* The place of what a user chose, or n. */
static size_t
find_chosen(const td_ready_queue *queue) {
  size_t place = 0;
  while (place < queue->n && !is_key_of(&queue->chosen, &queue->heap[place]))
    place++;
  return place;
}

static td_pick
pick_locked(td_ready_queue *queue) {
  size_t chosen = queue->chosen.node ? find_chosen(queue) : queue->n;
  if (chosen < queue->n && td_ready_queue_may_go(queue, chosen))
    return (td_pick){.place = chosen, .is_chosen = true, .by = TD_chooser_user};
  return td_schedule_pick(queue);
}

static td_pick
pilot_cb(td_ready_queue *queue) {
  td_pick pick = pick_locked(queue);
  const td_node_task *task = &queue->heap[pick.place];
  if (is_key_of(&queue->chosen, task)) queue->chosen = (td_task_key){0};
  td_schedule_count(queue, task);
  return pick;
}

static void
take_over(void) {
  atomic_store_explicit(&td_ready_queue_pilot, pilot_cb, memory_order_release);
}

/* ---- a user's choice ---- */

static size_t
find_task(const td_ready_queue *queue, uint32_t node, uint32_t graph_task) {
  for (size_t place = 0; place < queue->n; place++) {
    const td_node_task *task = &queue->heap[place];
    if (!task->node || td_node_id(task->node) != node) continue;
    if (graph_task == TD_NONE || task->graph_task->id == graph_task) return place;
  }
  return queue->n;
}

static char *
refuse_turn(const td_ready_queue *queue, const td_node_task *task) {
  const td_node_task *first = &queue->heap[td_ready_queue_first(queue)];
  if (!td_graph_task_handle_is_alive(task->graph_task))
    return td_format("graph task %u of node %u is over: its task will only be thrown away",
                     task->graph_task->id, td_node_id(task->node));
  if (!first->node)
    return td_format("a task that wakes or ends the thread goes first in queue %u", queue->id);
  if (!td_graph_task_handle_is_alive(first->graph_task))
    return td_format("a task of a pass that is over goes first in queue %u", queue->id);
  return td_format("graph task %u goes first in queue %u: a node waits for that inner pass",
                   first->graph_task->id, queue->id);
}

static char *
choose_locked(td_ready_queue *queue, uint32_t node, uint32_t graph_task) {
  size_t place = find_task(queue, node, graph_task);
  if (place == queue->n)
    return td_format("node %u is not in queue %u: only a ready task can go next", node, queue->id);
  const td_node_task *task = &queue->heap[place];
  if (!td_ready_queue_may_go(queue, place)) return refuse_turn(queue, task);
  queue->chosen = (td_task_key){task->node, task->graph_task};
  take_over();
  return NULL;
}

/* The mutex itself: a thread that only looks has no place on the tape. */
char *
td_steer_choose(uint32_t id, uint32_t node, uint32_t graph_task) {
  td_ready_queue *queue = td_queue_list_borrow(id);
  char *refusal = NULL;
  if (queue) {
    pthread_mutex_lock(&queue->lock.mutex);
    refusal = choose_locked(queue, node, graph_task);
    pthread_mutex_unlock(&queue->lock.mutex);
  } else {
    refusal = td_format("there is no queue %u", id);
  }
  td_queue_list_return();
  return refusal;
}

/* ---- where to choose ---- */

void
td_steer_poll(td_ready_queue *queue) {
  if (td_ready_queue_n_choices(queue) > 1) TD_GATE_POLL(TD_EVENT_queue_pop, TD_NONE, TD_NONE, NULL);
}

void
td_steer_follow(td_scheduled *choices, size_t n, const char *source) {
  td_schedule_set(choices, n, source);
  take_over();
}
