/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check_queue.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"

typedef struct order_context {
  const td_catalog *catalog;
  td_queue_order order;
} order_context;

static uint32_t
depth(const td_catalog *catalog, uint32_t graph_task) {
  return graph_task == TD_NONE ? 0 : catalog->graph_tasks[graph_task].depth;
}

/* True if b goes strictly before a. The rule stands in engine/base/task_order.h too. It is written
 * here a second time on purpose: a check by the code that it checks would find nothing. */
static bool
goes_after(td_check_entry a, td_check_entry b, void *data) {
  const order_context *context = data;
  const td_catalog *catalog = context->catalog;
  if (context->order == TD_queue_order_fifo) return b.seq < a.seq;
  if (context->order == TD_queue_order_lifo) return b.seq > a.seq;
  if (b.is_shutdown) return true;
  if (a.node == TD_NONE) return false;
  if (b.node == TD_NONE) return true;
  uint32_t depth_a = depth(catalog, a.graph_task), depth_b = depth(catalog, b.graph_task);
  if (depth_a != depth_b) return depth_a < depth_b;
  return catalog->nodes[a.node].sequence_nr < catalog->nodes[b.node].sequence_nr;
}

static void
set_entry(void *context, td_check_entry *slot, td_check_entry value) {
  *slot = value;
}

TD_HEAP_DEFINE(entries, td_check_entry, goes_after, set_entry)

void
td_check_queue_push(td_check_queue *queue, const td_catalog *catalog, td_queue_order order,
                    td_check_entry entry) {
  order_context context = {catalog, order};
  TD_GROW(queue->heap, queue->n, queue->capacity);
  entries_push(queue->heap, queue->n++, entry, &context);
}

/* Who pops a task whose graph task is gone cannot tell which that was. */
static bool
is_wanted(const td_check_entry *entry, const td_event_queue_pop *pop) {
  if (entry->node != pop->node) return false;
  return pop->node == TD_NONE || pop->graph_task == TD_NONE || entry->graph_task == pop->graph_task;
}

/* Among equals any may come first, though an engine with the same heap takes the same one. */
bool
td_check_queue_pop(td_check_queue *queue, const td_catalog *catalog, td_queue_order order,
                   const td_event_queue_pop *pop, td_check_entry *popped, td_check_entry *ahead) {
  order_context context = {catalog, order};
  size_t at = 0;
  while (at < queue->n && !is_wanted(&queue->heap[at], pop))
    at++;
  if (at == queue->n) return false;
  *popped = *ahead = queue->heap[at];
  if (at == 0) {
    entries_pop(queue->heap, queue->n--, &context);
  } else {
    td_check_entry top = queue->heap[0];
    if (!queue->unsure && goes_after(*popped, top, &context)) *ahead = top;
    td_check_entry last = queue->heap[--queue->n];
    size_t n = at;
    for (size_t i = at + 1; i < queue->n; i++)
      entries_push(queue->heap, n++, queue->heap[i], &context);
    if (at < queue->n) entries_push(queue->heap, n, last, &context);
  }
  if (queue->n == 0) queue->unsure = false;
  return true;
}

void
td_check_queue_end(td_check_queue *queue, uint32_t graph_task) {
  for (size_t i = 0; i < queue->n; i++)
    if (queue->heap[i].node != TD_NONE && queue->heap[i].graph_task == graph_task)
      queue->unsure = true;
}

void
td_check_queue_fini(td_check_queue *queue) {
  free(queue->heap);
  *queue = (td_check_queue){0};
}
