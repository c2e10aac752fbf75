/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/ranks/pass_leaves.h"

#include "engine/base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define FORGOTTEN_TOGETHER 4096u

static td_pass_leaves_of *
process_of(td_pass_leaves *self, uint32_t process) {
  while (self->n <= process) {
    TD_GROW(self->processes, self->n, self->capacity);
    self->processes[self->n++] = (td_pass_leaves_of){.graph_task = TD_NONE};
  }
  return &self->processes[process];
}

static uint64_t
key_of(uint32_t process, uint32_t node) {
  return (uint64_t)process << 32 | node;
}

static const char *
label_of(const td_pass_leaves *self, uint32_t process, uint32_t node) {
  const uint64_t *label = td_number_map_find(&self->labels, key_of(process, node));
  return label && *label ? (const char *)(uintptr_t)*label : NULL;
}

static void
forget_freed(td_pass_leaves *self, td_pass_leaves_of *of) {
  for (uint32_t i = 0; i < of->n_freed; i++)
    *td_number_map_put(&self->labels, of->freed[i]) = 0;
  of->n_freed = 0;
  if (self->labels.n < self->forgotten_at) return;
  td_number_map_forget_zeros(&self->labels);
  self->forgotten_at = TD_MAX(2 * self->labels.n, FORGOTTEN_TOGETHER);
}

static void
begin(td_pass_leaves *self, td_pass_leaves_of *of, const td_event_graph_task_begin *event) {
  if (event->depth) return;
  of->is_confused |= of->is_under_way;
  of->is_under_way = true;
  of->graph_task = event->graph_task;
  of->n_begun++;
  of->n_nodes = 0;
  forget_freed(self, of);
}

static void
add_node(td_pass_leaves_of *of, uint32_t node) {
  TD_GROW(of->nodes, of->n_nodes, of->nodes_capacity);
  of->nodes[of->n_nodes++] = node;
}

static void
free_node(td_pass_leaves *self, uint32_t process, uint32_t node) {
  td_pass_leaves_of *of = process_of(self, process);
  if (!label_of(self, process, node)) return;
  TD_GROW(of->freed, of->n_freed, of->freed_capacity);
  of->freed[of->n_freed++] = key_of(process, node);
}

void
td_pass_leaves_take(td_pass_leaves *self, uint32_t process, const td_any_event *event,
                    const char *label) {
  td_pass_leaves_of *of;
  switch (event->event.kind) {
  case TD_EVENT_node_label:
    *td_number_map_put(&self->labels, key_of(process, event->node_label.node)) =
        (uint64_t)(uintptr_t)label;
    return;
  case TD_EVENT_node_free:
    return free_node(self, process, event->node_free.node);
  case TD_EVENT_graph_task_begin:
    of = process_of(self, process);
    return begin(self, of, &event->graph_task_begin);
  case TD_EVENT_graph_task_end:
    of = process_of(self, process);
    if (event->graph_task_end.graph_task == of->graph_task) of->is_under_way = false;
    return;
  case TD_EVENT_dependency:
    return add_node(process_of(self, process), event->dependency.node);
  default:
    return;
  }
}

uint64_t
td_pass_leaves_n_begun(const td_pass_leaves *self, uint32_t process) {
  return process < self->n ? self->processes[process].n_begun : 0;
}

static int
compare_labels(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, each once. The caller frees the array. */
static uint32_t
list_labels(const td_pass_leaves *self, uint32_t process, const char ***labels) {
  const td_pass_leaves_of *of = &self->processes[process];
  const char **list = td_alloc(TD_MAX(of->n_nodes, 1u), sizeof *list);
  uint32_t n = 0, n_kept = 0;
  for (uint32_t i = 0; i < of->n_nodes; i++) {
    const char *label = label_of(self, process, of->nodes[i]);
    if (label) list[n++] = label;
  }
  qsort(list, n, sizeof *list, compare_labels);
  for (uint32_t i = 0; i < n; i++)
    if (n_kept == 0 || strcmp(list[n_kept - 1], list[i]) != 0) list[n_kept++] = list[i];
  *labels = list;
  return n_kept;
}

static bool
can_compare(const td_pass_leaves *self, uint32_t process, uint32_t other) {
  if (process >= self->n || other >= self->n) return false;
  const td_pass_leaves_of *one = &self->processes[process], *two = &self->processes[other];
  return one->n_begun && one->n_begun == two->n_begun && !one->is_confused && !two->is_confused;
}

uint32_t
td_pass_leaves_missing(const td_pass_leaves *self, uint32_t process, uint32_t other,
                       const char ***labels) {
  const char **own;
  *labels = NULL;
  if (!can_compare(self, process, other)) return 0;
  uint32_t n_own = list_labels(self, process, &own), n = list_labels(self, other, labels);
  uint32_t n_missing = 0;
  for (uint32_t i = 0; i < n; i++)
    if (!bsearch(&(*labels)[i], own, n_own, sizeof *own, compare_labels))
      (*labels)[n_missing++] = (*labels)[i];
  free(own);
  if (n_missing == n) n_missing = 0; /* other models */
  return n_missing;
}

void
td_pass_leaves_fini(td_pass_leaves *self) {
  for (uint32_t i = 0; i < self->n; i++) {
    free(self->processes[i].nodes);
    free(self->processes[i].freed);
  }
  free(self->processes);
  td_number_map_fini(&self->labels);
  *self = (td_pass_leaves){0};
}
