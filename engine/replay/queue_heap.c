/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/queue_heap.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"

/* From this length on, each task in a heap knows its place there. Shorter heaps are searched. */
#define INDEXED_LENGTH 64
#define ROOM_AT_FIRST 4u

/* What comparing and storing need. A heap is an array, or NULL: the entries of the world from
 * `first` on. */
typedef struct heap_context {
  const td_state *state;
  const td_catalog *catalog;
  td_queue_order order;
  td_world *world; /* NULL: the heap is an array */
  uint32_t first;
  bool indexed;
} heap_context;

/* The weak reference to a graph task that is over has expired. */
static uint32_t
depth_of(const heap_context *context, const td_queue_entry *entry) {
  if (entry->graph_task == TD_NONE) return TD_TASK_DEPTH_GONE;
  uint32_t row = td_catalog_graph_task_row(context->catalog, entry->graph_task);
  uint32_t status = td_state_graph_task_row(context->state, row)->status;
  if (status != TD_PASS_RUNNING) return TD_TASK_DEPTH_GONE;
  return context->catalog->graph_task_rows[row].depth;
}

static td_task_place
place_of(const heap_context *context, const td_queue_entry *entry) {
  if (entry->kind != TD_TASK_NODE) return (td_task_place){.kind = entry->kind};
  return (td_task_place){.depth = depth_of(context, entry),
                         .sequence_nr =
                             td_catalog_node_get(context->catalog, entry->node)->sequence_nr};
}

static bool
goes_after(td_queue_entry a, td_queue_entry b, void *data) {
  const heap_context *context = data;
  if (context->order != TD_queue_order_heap)
    return td_push_goes_after(context->order, a.order, b.order);
  return td_task_goes_after(place_of(context, &a), place_of(context, &b));
}

static td_queue_entry
get_entry(const heap_context *context, const td_queue_entry *heap, size_t i) {
  return heap ? heap[i] : *td_state_entry(context->state, context->first + (uint32_t)i);
}

static void
store_entry(td_world *world, uint32_t place, td_queue_entry value) {
  td_queue_entry *slot = td_world_entry(world, place);
  td_world_set(world, &slot->node, value.node);
  td_world_set(world, &slot->graph_task, value.graph_task);
  td_world_set(world, &slot->kind, value.kind);
  td_world_set(world, &slot->order, value.order);
}

static void
note_place(const heap_context *context, uint32_t place, td_queue_entry entry) {
  if (entry.kind != TD_TASK_NODE) return;
  uint32_t task = td_state_task_at(context->state, entry.node, entry.graph_task);
  if (task != TD_NONE)
    td_world_set(context->world, &td_world_task(context->world, task)->place, place);
}

static void
set_entry(const heap_context *context, td_queue_entry *heap, size_t i, td_queue_entry value) {
  if (heap) {
    heap[i] = value;
    return;
  }
  store_entry(context->world, context->first + (uint32_t)i, value);
  if (context->indexed) note_place(context, (uint32_t)i, value);
}

TD_HEAP_DEFINE(entries, td_queue_entry, get_entry, goes_after, set_entry)

static heap_context
context_of(td_world *world, uint32_t queue) {
  const td_catalog *catalog = world->state.catalog;
  const td_queue_now *now = td_state_queue(&world->state, queue);
  return (heap_context){.state = &world->state,
                        .catalog = catalog,
                        .order = catalog->queues[queue].order,
                        .world = world,
                        .first = now->first,
                        .indexed = now->n >= INDEXED_LENGTH};
}

/* From a certain length on, each task knows its place. */
static void
grow_by_one(td_world *world, td_queue_now *now, const heap_context *context) {
  td_world_set(world, &now->n, now->n + 1);
  for (uint32_t i = 0; now->n == INDEXED_LENGTH && i < INDEXED_LENGTH; i++)
    note_place(context, i, get_entry(context, NULL, i));
}

/* Copies the heap to a place with twice the room, if there is none for one more entry. */
static bool
make_room(td_world *world, td_queue_now *now) {
  if (now->n < now->room) return true;
  uint32_t first = world->state.header->n_entries_used, room = TD_MAX(2 * now->room, ROOM_AT_FIRST);
  if (first + (uint64_t)room >= TD_NONE || !td_world_grow(world, TD_WORLD_entries, first + room))
    return false;
  for (uint32_t i = 0; i < now->n; i++)
    store_entry(world, first + i, *td_state_entry(&world->state, now->first + i));
  td_world_set(world, &now->first, first);
  td_world_set(world, &now->room, room);
  td_world_set(world, &world->state.header->n_entries_used, first + room);
  return true;
}

bool
td_queue_append(td_world *world, uint32_t queue, td_queue_entry entry) {
  td_queue_now *now = td_world_queue(world, queue);
  if (!make_room(world, now)) return false;
  heap_context context = context_of(world, queue);
  set_entry(&context, NULL, now->n, entry);
  grow_by_one(world, now, &context);
  return true;
}

bool
td_queue_enter(td_world *world, uint32_t queue, td_queue_entry entry) {
  td_queue_now *now = td_world_queue(world, queue);
  if (!make_room(world, now)) return false;
  heap_context context = context_of(world, queue);
  entry.order = now->n_pushed;
  entries_push(NULL, now->n, entry, &context);
  grow_by_one(world, now, &context);
  td_world_set(world, &now->n_pushed, now->n_pushed + 1);
  return true;
}

static bool
is_wanted(const heap_context *context, uint32_t place, uint32_t node, uint32_t graph_task) {
  const td_queue_entry *entry = td_state_entry(context->state, context->first + place);
  if (node == TD_NONE) return entry->kind != TD_TASK_NODE;
  return entry->kind == TD_TASK_NODE && entry->node == node &&
         (graph_task == TD_NONE || entry->graph_task == graph_task);
}

/* Where the entry is, or n. */
static uint32_t
find_entry(const heap_context *context, uint32_t n, uint32_t node, uint32_t graph_task) {
  uint32_t at = 0, task = TD_NONE;
  if (n && is_wanted(context, 0, node, graph_task)) return 0;
  if (node != TD_NONE && graph_task != TD_NONE)
    task = td_state_task_at(context->state, node, graph_task);
  if (context->indexed && task != TD_NONE) at = td_state_task(context->state, task)->place;
  bool is_placed = context->indexed && graph_task != TD_NONE;
  uint32_t end = is_placed ? TD_MIN(n, at + INDEXED_LENGTH) : n;
  while (at < end && !is_wanted(context, at, node, graph_task))
    at++;
  return at < end ? at : n;
}

bool
td_queue_leave(td_world *world, uint32_t queue, uint32_t node, uint32_t graph_task,
               td_queue_entry *removed) {
  td_queue_now *now = td_world_queue(world, queue);
  heap_context context = context_of(world, queue);
  uint32_t at = find_entry(&context, now->n, node, graph_task);
  if (at == now->n) return false;
  *removed = get_entry(&context, NULL, at);
  entries_remove(NULL, now->n, at, &context);
  td_world_set(world, &now->n, now->n - 1);
  store_entry(world, context.first + now->n, (td_queue_entry){0});
  return true;
}

void
td_state_queue_first(const td_state *state, const td_catalog *catalog, uint32_t queue,
                     uint32_t most, td_queue_entry *out) {
  uint32_t n = td_state_queue(state, queue)->n, n_out = TD_MIN(most, n);
  heap_context context = {
      .state = state, .catalog = catalog, .order = catalog->queues[queue].order};
  td_queue_entry *heap = TD_NEW_N(td_queue_entry, n + 1);
  for (uint32_t i = 0; i < n; i++)
    heap[i] = *td_state_entry(state, td_state_queue(state, queue)->first + i);
  for (uint32_t i = 0; i < n_out; i++)
    out[i] = entries_pop(heap, n - i, &context);
  free(heap);
}

void
td_state_queue_order(const td_state *state, const td_catalog *catalog, uint32_t queue,
                     td_queue_entry *out) {
  td_state_queue_first(state, catalog, queue, td_state_queue(state, queue)->n, out);
}
