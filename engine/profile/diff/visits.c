/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/visits.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/base/number_map.h"
#include "engine/replay/catalog_collect.h"

#include <string.h>

/* Visits and values as they come, with the latest visit of each node and the one before each. */
typedef struct collector {
  td_visits *out;
  uint64_t seq;
  uint32_t capacity, value_capacity;
  td_number_map latest; /* by node and graph task: the number of the last visit */
  bool out_of_memory;
} collector;

static bool
grow(collector *self, void **array, uint32_t n, uint32_t capacity, size_t size) {
  if (n < capacity) return true;
  void *larger = realloc(*array, TD_MAX(2 * (size_t)n, 64) * size);
  if (larger) *array = larger;
  self->out_of_memory |= !larger;
  return larger != NULL;
}

static uint64_t
key_of(uint32_t node, uint32_t graph_task) {
  return (uint64_t)node << 32 | graph_task;
}

static td_visit *
find_visit(collector *self, uint32_t node, uint32_t graph_task) {
  if (node == TD_NONE) return NULL;
  const uint64_t *visit = td_number_map_find(&self->latest, key_of(node, graph_task));
  return visit ? &self->out->visits[*visit] : NULL;
}

/* Until the catalog is known, the row is the queue. */
static void
add_visit(collector *self, const td_event *event, uint32_t node, uint32_t graph_task,
          uint32_t queue) {
  td_visits *out = self->out;
  if (node == TD_NONE) return;
  if (!grow(self, (void **)&out->visits, out->n, self->capacity, sizeof *out->visits)) return;
  if (out->n == self->capacity) self->capacity = TD_MAX(2 * out->n, 64);
  out->visits[out->n] = (td_visit){.node = node,
                                   .graph_task = graph_task,
                                   .thread = event->thread,
                                   .popped = event->kind == TD_EVENT_queue_pop,
                                   .row = queue,
                                   .at = self->seq};
  *td_number_map_put(&self->latest, key_of(node, graph_task)) = out->n++;
}

/* Where pops are not on the tape, what a node does shows that it was visited. */
static td_visit *
visit_of(collector *self, const td_event *event, uint32_t node, uint32_t graph_task) {
  td_visit *visit = find_visit(self, node, graph_task);
  if (visit) return visit;
  add_visit(self, event, node, graph_task, TD_NONE);
  return find_visit(self, node, graph_task);
}

static void
add_value(collector *self, const td_visit_value *value) {
  td_visits *out = self->out;
  if (!grow(self, (void **)&out->values, out->n_values, self->value_capacity, sizeof *out->values))
    return;
  if (out->n_values == self->value_capacity) self->value_capacity = TD_MAX(2 * out->n_values, 64);
  out->values[out->n_values++] = *value;
}

static void
collect_value(collector *self, const td_any_event *event) {
  td_visit_value value = {.kind = (td_event_kind)event->event.kind, .seq = self->seq};
  if (value.kind == TD_EVENT_anomaly) {
    value.anomaly = event->anomaly;
    value.place = event->anomaly.born;
    value.number = event->anomaly.number;
  } else {
    value.stats = event->tensor_stats;
    value.place = event->tensor_stats.place;
    value.number = event->tensor_stats.number;
  }
  add_value(self, &value);
}

static void
event_cb(const td_catalog *so_far, const td_any_event *event, uint64_t seq, void *data) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  collector *self = data;
  if (type->visit.role == TD_VISIT_none || self->out_of_memory) return;
  self->seq = seq;
  uint32_t node = td_event_u32(&event->event, type->visit.node);
  uint32_t graph_task = td_event_u32(&event->event, type->visit.graph_task);
  td_visit *visit;
  switch (type->visit.role) {
  case TD_VISIT_popped:
    add_visit(self, &event->event, node, graph_task, event->queue_pop.queue);
    break;
  case TD_VISIT_seen:
    visit_of(self, &event->event, node, graph_task);
    break;
  case TD_VISIT_begins:
    visit = visit_of(self, &event->event, node, graph_task);
    if (visit) visit->begin_ns = event->event.time;
    break;
  case TD_VISIT_ends:
    visit = find_visit(self, node, graph_task);
    if (visit) visit->end_ns = event->event.time;
    break;
  case TD_VISIT_value:
    collect_value(self, event);
    break;
  case TD_VISIT_none:
    break;
  }
}

static int
compare_visits(const void *a, const void *b) {
  const td_visit *left = a, *right = b;
  if (left->graph_task != right->graph_task) return left->graph_task < right->graph_task ? -1 : 1;
  return (left->at > right->at) - (left->at < right->at);
}

static int
compare_values(const void *a, const void *b) {
  const td_visit_value *left = a, *right = b;
  if (left->visit != right->visit) return left->visit < right->visit ? -1 : 1;
  return (left->seq > right->seq) - (left->seq < right->seq);
}

static bool
are_sorted(const td_visits *out) {
  for (uint32_t i = 1; i < out->n; i++)
    if (compare_visits(&out->visits[i - 1], &out->visits[i]) > 0) return false;
  return true;
}

/* By graph task; where the last visits are is noted anew. */
static void
sort_visits(collector *self) {
  td_visits *out = self->out;
  if (!are_sorted(out)) qsort(out->visits, out->n, sizeof *out->visits, compare_visits);
  for (uint32_t i = 0; i < out->n; i++) {
    *td_number_map_put(&self->latest, key_of(out->visits[i].node, out->visits[i].graph_task)) = i;
    if (out->visits[i].end_ns < out->visits[i].begin_ns || out->visits[i].begin_ns == 0)
      out->visits[i].begin_ns = out->visits[i].end_ns = 0;
  }
}

/* Values name their node; one of a node that was never visited is left out. */
static void
add_values(collector *self) {
  td_visits *out = self->out;
  uint32_t n = 0;
  for (uint32_t i = 0; i < out->n_values; i++) {
    td_visit_value *value = &out->values[i];
    bool is_anomaly = value->kind == TD_EVENT_anomaly;
    td_visit *visit = find_visit(self, is_anomaly ? value->anomaly.node : value->stats.node,
                                 is_anomaly ? value->anomaly.graph_task : value->stats.graph_task);
    if (!visit) continue;
    value->visit = (uint32_t)(visit - out->visits);
    out->values[n++] = *value;
  }
  out->n_values = n;
  if (n) qsort(out->values, n, sizeof *out->values, compare_values);
}

static bool
list_tasks(td_visits *out) {
  out->tasks = td_try_alloc((size_t)out->catalog->n_graph_tasks + 1, sizeof *out->tasks);
  for (uint32_t first = 0, end; out->tasks && first < out->n; first = end) {
    uint32_t graph_task = out->visits[first].graph_task;
    for (end = first; end < out->n && out->visits[end].graph_task == graph_task;)
      end++;
    out->tasks[out->n_tasks++] = (td_visit_task){graph_task, first, end - first};
  }
  return out->tasks != NULL;
}

static int32_t
lane_of(const td_catalog *catalog, uint32_t thread, uint32_t queue) {
  if (queue < catalog->n_queues) return catalog->queues[queue].device;
  return catalog->threads[thread].device;
}

static void
place_visits(td_visits *out) {
  for (uint32_t i = 0; i < out->n; i++) {
    td_visit *visit = &out->visits[i];
    visit->lane = lane_of(out->catalog, visit->thread, visit->row);
    visit->row = td_catalog_node_row(out->catalog, visit->node);
  }
}

static bool
finish(collector *self) {
  td_visits *out = self->out;
  if (self->out_of_memory) return false;
  place_visits(out);
  sort_visits(self);
  add_values(self);
  return td_likeness_init(&out->likeness, out->catalog) && list_tasks(out);
}

td_status
td_visits_collect(td_tape *tape, const td_segment *segment, td_visits *visits, td_error *error) {
  *visits = (td_visits){0};
  collector self = {.out = visits};
  td_catalog_along along = {.listener = event_cb, .data = &self};
  td_status status = td_catalog_collect_along(tape, segment, &along, &visits->catalog, error);
  if (!status && !finish(&self))
    status = td_error_set(error, TD_OUT_OF_MEMORY, "no memory for its visits");
  td_number_map_fini(&self.latest);
  if (status) td_visits_fini(visits);
  return status;
}

void
td_visits_fini(td_visits *visits) {
  td_catalog_free(visits->catalog);
  free(visits->visits);
  free(visits->values);
  free(visits->tasks);
  td_likeness_fini(&visits->likeness);
  *visits = (td_visits){0};
}

td_visit_task
td_visits_task(const td_visits *visits, uint32_t graph_task) {
  uint32_t at;
  TD_BISECT(at, 0, visits->n_tasks, visits->tasks[at].graph_task < graph_task);
  bool found = at < visits->n_tasks && visits->tasks[at].graph_task == graph_task;
  return found ? visits->tasks[at] : (td_visit_task){.graph_task = graph_task};
}

td_visited_node
td_visits_node(const td_visits *visits, uint32_t visit) {
  const td_visit *facts = &visits->visits[visit];
  const td_catalog_node *node = &visits->catalog->node_rows[facts->row];
  return (td_visited_node){.node = facts->node,
                           .graph_task = facts->graph_task,
                           .at = facts->at,
                           .name = node->name,
                           .label = node->label,
                           .module = node->module,
                           .module_class = node->module_class};
}

int
td_visited_compare(const td_visited_node *a, const td_visited_node *b) {
  if (a->graph_task != b->graph_task) return a->graph_task < b->graph_task ? -1 : 1;
  return (a->at > b->at) - (a->at < b->at);
}
