/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/schedule.h"

#include "engine/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The choices of one pass at one queue, in the order of their positions. Guarded by the queue's
 * lock: two queues of one device share no pass. */
typedef struct group {
  uint32_t graph_task;
  td_device device;
  size_t first, end; /* in the schedule's choices; `first` is the next one */
  uint32_t n_popped; /* nodes of the pass, from the queue */
} group;

static struct {
  td_scheduled *choices; /* (owned) by pass, device, position */
  group *groups;         /* (owned) sorted */
  size_t n, n_groups, capacity;
  char *source; /* (owned) */
  _Atomic size_t n_made;
  _Atomic bool has_complained;
} schedule;

static int
compare_places(uint32_t graph_task_a, td_device device_a, uint32_t graph_task_b,
               td_device device_b) {
  if (graph_task_a != graph_task_b) return graph_task_a < graph_task_b ? -1 : 1;
  return (device_a > device_b) - (device_a < device_b);
}

static int
compare_choices(const void *left, const void *right) {
  const td_scheduled *a = left, *b = right;
  int order = compare_places(a->graph_task, a->device, b->graph_task, b->device);
  return order ? order : (a->position > b->position) - (a->position < b->position);
}

static int
compare_groups(const void *left, const void *right) {
  const group *a = left, *b = right;
  return compare_places(a->graph_task, a->device, b->graph_task, b->device);
}

static void
add_to_groups(size_t place) {
  const td_scheduled *choice = &schedule.choices[place];
  group *last = schedule.n_groups ? &schedule.groups[schedule.n_groups - 1] : NULL;
  if (!last || last->graph_task != choice->graph_task || last->device != choice->device) {
    TD_GROW(schedule.groups, schedule.n_groups, schedule.capacity);
    last = &schedule.groups[schedule.n_groups++];
    *last = (group){.graph_task = choice->graph_task, .device = choice->device, .first = place};
  }
  last->end = place + 1;
}

void
td_schedule_set(td_scheduled *choices, size_t n, const char *source) {
  schedule.choices = choices;
  schedule.n = n;
  schedule.source = td_dup_string(source);
  qsort(choices, n, sizeof *choices, compare_choices);
  for (size_t i = 0; i < n; i++)
    add_to_groups(i);
}

static group *
find_group(const td_graph_task_handle *graph_task, td_device device) {
  if (!graph_task || !schedule.n_groups) return NULL;
  const group key = {.graph_task = graph_task->id, .device = device};
  return bsearch(&key, schedule.groups, schedule.n_groups, sizeof key, compare_groups);
}

static bool
is_like(const td_scheduled *choice, const td_node_task *task) {
  return task->node && task->graph_task->id == choice->graph_task &&
         task->node->sequence_nr == choice->sequence_nr &&
         strcmp(td_node_name(task->node), choice->name) == 0;
}

/* Leaves have equal names and sequence numbers: then the node's own number decides. */
static size_t
find_task(const td_ready_queue *queue, const td_scheduled *choice) {
  size_t found = queue->n, n_found = 0;
  for (size_t place = 0; place < queue->n; place++) {
    if (!is_like(choice, &queue->heap[place])) continue;
    if (td_node_id(queue->heap[place].node) == choice->node) return place;
    found = place;
    n_found++;
  }
  return n_found == 1 ? found : queue->n;
}

static void
complain(const td_scheduled *choice) {
  if (atomic_exchange(&schedule.has_complained, true)) return;
  fprintf(stderr,
          "tapedeck: the program differs from the one on %s: in pass %u, %s was chosen there after "
          "%u pops, and is not ready to go next here; the queue's own order decides\n",
          schedule.source, choice->graph_task, choice->name, choice->position);
}

td_pick
td_schedule_pick(const td_ready_queue *queue) {
  td_pick pick = {.place = td_ready_queue_first(queue), .by = TD_chooser_schedule};
  group *due = find_group(queue->heap[pick.place].graph_task, queue->device);
  if (!due || due->first == due->end) return pick;
  const td_scheduled *choice = &schedule.choices[due->first];
  if (choice->position > due->n_popped || !td_ready_queue_may_go(queue, pick.place)) return pick;
  size_t place = find_task(queue, choice);
  due->first++;
  pick.is_chosen = place < queue->n && td_ready_queue_may_go(queue, place);
  if (pick.is_chosen) {
    pick.place = place;
    atomic_fetch_add(&schedule.n_made, 1);
  } else {
    complain(choice);
  }
  return pick;
}

void
td_schedule_count(const td_ready_queue *queue, const td_node_task *task) {
  group *counting = task->node ? find_group(task->graph_task, queue->device) : NULL;
  if (counting) counting->n_popped++;
}

void
td_schedule_end(void) {
  size_t n_made = atomic_load(&schedule.n_made);
  if (n_made < schedule.n)
    fprintf(stderr, "tapedeck: %zu of the %zu choices on %s were made again\n", n_made, schedule.n,
            schedule.source);
}
