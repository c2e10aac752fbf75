/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/check_queue.h"

#include "engine/base/alloc.h"

#define MAP_ENTRIES_KEPT 1024 /* beyond these, an empty queue forgets which tasks it had */
#define SEARCHED_MAX 65536
#define SEARCHED_PER_PUSH 64

static uint64_t
key_of(uint32_t node, uint32_t graph_task) {
  return (uint64_t)node << 32 | graph_task;
}

static td_check_entry
entry_of(const td_ready_task *task) {
  return (td_check_entry){task->order, (uint32_t)(task->id >> 32), (uint32_t)task->id};
}

static td_task_place
place_of(const td_catalog *catalog, td_task_kind kind, uint32_t node, uint32_t graph_task) {
  if (kind != TD_TASK_NODE) return (td_task_place){.kind = kind};
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, graph_task);
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  return (td_task_place){.depth = pass ? pass->depth : 0,
                         .sequence_nr = facts ? facts->sequence_nr : 0};
}

/* Nobody knows where a task stands in its queue if its node or its pass is unknown. */
static bool
is_unsure(const td_catalog *catalog, uint32_t node, uint32_t graph_task) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  return !facts || facts->renumbered || !td_catalog_graph_task_find(catalog, graph_task);
}

/* 1 + the seq of its push, or 0. */
static uint64_t
seq_of(const td_check_queue *queue, uint64_t key) {
  const uint64_t *seq = td_number_map_find(&queue->seqs, key);
  return seq ? *seq : 0;
}

static bool
is_in(const td_check_queue *queue, const td_ready_task *task) {
  return task->place.kind != TD_TASK_NODE || seq_of(queue, task->id) == task->order + 1;
}

bool
td_check_queue_at(const td_check_queue *queue, size_t at, td_check_entry *entry) {
  *entry = entry_of(&queue->tasks.heap[at]);
  return is_in(queue, &queue->tasks.heap[at]);
}

static void
count(td_check_queue *queue, const td_check_entry *entry, bool enters) {
  queue->n += enters ? 1 : (size_t)-1;
  if (entry->node == TD_NONE) return;
  *td_number_map_put(&queue->seqs, key_of(entry->node, entry->graph_task)) =
      enters ? entry->seq + 1 : 0;
  *td_number_map_put(&queue->counts, entry->graph_task) += enters ? 1 : UINT64_MAX;
}

/* The top of the heap always counts. */
static void
clear_top(td_check_queue *queue) {
  while (queue->tasks.n && !is_in(queue, &queue->tasks.heap[0]))
    td_ready_tasks_pop(&queue->tasks);
  if (queue->n > 0) return;
  queue->unsure = false;
  if (queue->seqs.n < MAP_ENTRIES_KEPT) return;
  td_number_map_fini(&queue->seqs);
  td_number_map_fini(&queue->counts);
}

void
td_check_queue_push(td_check_queue *queue, const td_catalog *catalog, uint64_t seq,
                    td_task_kind kind, uint32_t node, uint32_t graph_task) {
  td_check_entry entry = {seq, node, graph_task};
  uint64_t key = key_of(node, graph_task);
  if (kind == TD_TASK_NODE && seq_of(queue, key)) count(queue, &entry, false);
  td_task_place place = place_of(catalog, kind, node, graph_task);
  td_ready_tasks_push(&queue->tasks, (td_ready_task){key, seq, place});
  queue->n_pushed++;
  count(queue, &entry, true);
  if (kind == TD_TASK_NODE && is_unsure(catalog, node, graph_task)) queue->unsure = true;
  clear_top(queue);
}

/* Who pops a task whose graph task is gone cannot tell which that was. */
static bool
is_wanted(const td_ready_task *task, const td_event_queue_pop *pop) {
  td_check_entry entry = entry_of(task);
  if (entry.node != pop->node) return false;
  return pop->node == TD_NONE || pop->graph_task == TD_NONE || entry.graph_task == pop->graph_task;
}

/* The task of an unknown graph task. Few pops need this, so its total is limited. */
static const td_ready_task *
search(td_check_queue *queue, const td_event_queue_pop *pop) {
  for (size_t at = 0; at < queue->tasks.n; at++) {
    const td_ready_task *task = &queue->tasks.heap[at];
    if (queue->n_searched++ > SEARCHED_MAX + SEARCHED_PER_PUSH * queue->n_pushed) return NULL;
    if (is_wanted(task, pop) && is_in(queue, task)) return task;
  }
  return NULL;
}

/* Dummies and shutdown tasks are always at the top. */
static bool
find(td_check_queue *queue, const td_event_queue_pop *pop, td_check_entry *found) {
  const td_ready_task *task = queue->tasks.n ? queue->tasks.heap : NULL;
  if (task && !is_wanted(task, pop)) task = NULL;
  if (!task && pop->node != TD_NONE && pop->graph_task == TD_NONE) task = search(queue, pop);
  *found = (td_check_entry){.node = pop->node, .graph_task = pop->graph_task};
  if (task) *found = entry_of(task);
  if (task || pop->node == TD_NONE || pop->graph_task == TD_NONE) return task != NULL;
  found->seq = seq_of(queue, key_of(pop->node, pop->graph_task)) - 1;
  return found->seq != UINT64_MAX;
}

/* Among equals any may come first, though an engine with the same heap takes the same one. */
static bool
is_passed_over(const td_check_queue *queue, const td_catalog *catalog,
               const td_check_entry *popped) {
  const td_ready_task task = {
      .order = popped->seq,
      .place = place_of(catalog, TD_TASK_NODE, popped->node, popped->graph_task)};
  return !queue->unsure && td_ready_task_goes_after(queue->tasks.order, &task, queue->tasks.heap);
}

bool
td_check_queue_pop(td_check_queue *queue, const td_catalog *catalog, const td_event_queue_pop *pop,
                   td_check_entry *popped, td_check_entry *ahead) {
  if (!find(queue, pop, popped)) return false;
  td_check_entry top = entry_of(&queue->tasks.heap[0]);
  bool is_top = top.node == popped->node && top.seq == popped->seq;
  *ahead = !is_top && is_passed_over(queue, catalog, popped) ? top : *popped;
  if (is_top) td_ready_tasks_pop(&queue->tasks);
  count(queue, popped, false);
  clear_top(queue);
  return true;
}

bool
td_check_queue_knows(const td_check_queue *queue, uint32_t graph_task) {
  return td_number_map_find(&queue->counts, graph_task) != NULL;
}

void
td_check_queue_end(td_check_queue *queue, uint32_t graph_task) {
  const uint64_t *n = td_number_map_find(&queue->counts, graph_task);
  if (n && *n) queue->unsure = true;
}

void
td_check_queue_fini(td_check_queue *queue) {
  td_ready_tasks_fini(&queue->tasks);
  td_number_map_fini(&queue->seqs);
  td_number_map_fini(&queue->counts);
  *queue = (td_check_queue){0};
}
