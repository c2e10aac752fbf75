/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/check_queue.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"

#define MAP_ENTRIES_KEPT 1024 /* beyond these, an empty queue forgets which tasks it had */
#define SEARCHED_MAX 65536
#define SEARCHED_PER_PUSH 64

typedef struct order_context {
  const td_catalog *catalog;
  td_queue_order order;
} order_context;

static uint32_t
depth(const td_catalog *catalog, uint32_t graph_task) {
  return graph_task == TD_NONE ? 0 : td_catalog_graph_task_get(catalog, graph_task)->depth;
}

/* True if b goes strictly before a. The rule stands in engine/rules/task_order.h too. It is written
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
  return td_catalog_node_get(catalog, a.node)->sequence_nr <
         td_catalog_node_get(catalog, b.node)->sequence_nr;
}

TD_HEAP_DEFINE(entries, td_check_entry, TD_HEAP_GET, goes_after, TD_HEAP_SET)

static uint64_t
key_of(uint32_t node, uint32_t graph_task) {
  return (uint64_t)node << 32 | graph_task;
}

static uint64_t
seq_of(const td_check_queue *queue, uint32_t node, uint32_t graph_task) {
  const uint64_t *seq = td_number_map_find(&queue->seqs, key_of(node, graph_task));
  return seq ? *seq : 0;
}

bool
td_check_queue_has(const td_check_queue *queue, const td_check_entry *entry) {
  return entry->node == TD_NONE || seq_of(queue, entry->node, entry->graph_task) == entry->seq + 1;
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
clear_top(td_check_queue *queue, order_context *context) {
  while (queue->n_heap && !td_check_queue_has(queue, &queue->heap[0]))
    entries_pop(queue->heap, queue->n_heap--, context);
  if (queue->n > 0) return;
  queue->unsure = false;
  if (queue->seqs.n < MAP_ENTRIES_KEPT) return;
  td_number_map_fini(&queue->seqs);
  td_number_map_fini(&queue->counts);
}

void
td_check_queue_push(td_check_queue *queue, const td_catalog *catalog, td_queue_order order,
                    td_check_entry entry) {
  order_context context = {catalog, order};
  uint64_t twice = entry.node == TD_NONE ? 0 : seq_of(queue, entry.node, entry.graph_task);
  if (twice) count(queue, &entry, false);
  count(queue, &entry, true);
  TD_GROW(queue->heap, queue->n_heap, queue->capacity);
  entries_push(queue->heap, queue->n_heap++, entry, &context);
  queue->n_pushed++;
  if (entry.node != TD_NONE && td_catalog_node_get(catalog, entry.node)->renumbered)
    queue->unsure = true;
  clear_top(queue, &context);
}

/* Who pops a task whose graph task is gone cannot tell which that was. */
static bool
is_wanted(const td_check_entry *entry, const td_event_queue_pop *pop) {
  if (entry->node != pop->node) return false;
  return pop->node == TD_NONE || pop->graph_task == TD_NONE || entry->graph_task == pop->graph_task;
}

/* The entry of a task of an unknown graph task. Few pops need this, so its total is limited. */
static const td_check_entry *
search(td_check_queue *queue, const td_event_queue_pop *pop) {
  for (size_t at = 0; at < queue->n_heap; at++) {
    if (queue->n_searched++ > SEARCHED_MAX + SEARCHED_PER_PUSH * queue->n_pushed) return NULL;
    if (is_wanted(&queue->heap[at], pop) && td_check_queue_has(queue, &queue->heap[at]))
      return &queue->heap[at];
  }
  return NULL;
}

/* Dummies and shutdown tasks are always at the top. */
static bool
find(td_check_queue *queue, const td_event_queue_pop *pop, td_check_entry *found) {
  *found = (td_check_entry){.node = pop->node, .graph_task = pop->graph_task};
  if (queue->n_heap && is_wanted(&queue->heap[0], pop)) {
    *found = queue->heap[0];
    return true;
  }
  if (pop->node == TD_NONE) return false;
  if (pop->graph_task == TD_NONE) {
    const td_check_entry *entry = search(queue, pop);
    if (entry) *found = *entry;
    return entry != NULL;
  }
  found->seq = seq_of(queue, pop->node, pop->graph_task) - 1;
  return found->seq != UINT64_MAX;
}

/* Among equals any may come first, though an engine with the same heap takes the same one. */
bool
td_check_queue_pop(td_check_queue *queue, const td_catalog *catalog, td_queue_order order,
                   const td_event_queue_pop *pop, td_check_entry *popped, td_check_entry *ahead) {
  order_context context = {catalog, order};
  if (!find(queue, pop, popped)) return false;
  td_check_entry top = queue->heap[0];
  bool is_top = top.node == popped->node && top.seq == popped->seq;
  *ahead = !is_top && !queue->unsure && goes_after(*popped, top, &context) ? top : *popped;
  if (is_top) entries_pop(queue->heap, queue->n_heap--, &context);
  count(queue, popped, false);
  clear_top(queue, &context);
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
  free(queue->heap);
  td_number_map_fini(&queue->seqs);
  td_number_map_fini(&queue->counts);
  *queue = (td_check_queue){0};
}
