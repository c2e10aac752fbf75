/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/visits.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"

#include <string.h>

/* Visits and values as they come, with the latest visit of each node and the one before each. */
#define UNKNOWN (TD_NONE - 1) /* a stream that is not found yet */

typedef struct collector {
  td_tape *tape;
  const td_catalog *catalog;
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
  if (!td_catalog_has_node(self->catalog, node)) return NULL;
  const uint64_t *visit = td_number_map_find(&self->latest, key_of(node, graph_task));
  return visit ? &self->out->visits[*visit] : NULL;
}

static int32_t
lane_of(const collector *self, const td_event *event, uint32_t queue) {
  if (queue < self->catalog->n_queues) return self->catalog->queues[queue].device;
  return self->catalog->threads[event->thread].device;
}

static void
add_visit(collector *self, const td_event *event, uint32_t node, uint32_t graph_task,
          uint32_t queue) {
  td_visits *out = self->out;
  uint32_t row = td_catalog_node_row(self->catalog, node);
  if (row == TD_NO_ROW) return;
  if (!grow(self, (void **)&out->visits, out->n, self->capacity, sizeof *out->visits)) return;
  if (out->n == self->capacity) self->capacity = TD_MAX(2 * out->n, 64);
  out->visits[out->n] = (td_visit){.node = node,
                                   .graph_task = graph_task,
                                   .thread = event->thread,
                                   .lane = lane_of(self, event, queue),
                                   .popped = event->kind == TD_EVENT_queue_pop,
                                   .row = row,
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
collect_event(collector *self, const td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  if (type->visit.role == TD_VISIT_none) return;
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
attach_values(collector *self) {
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

static uint32_t
outer_row(const td_catalog *catalog, uint32_t row) {
  return td_catalog_graph_task_row(catalog, catalog->graph_task_rows[row].outer);
}

/* The owner of the outermost pass around a graph task, or TD_NONE if there is none. Each graph task
 * on the way remembers it, so that all of them take linear time. A circle has none. */
static uint32_t
stream_of(const collector *self, uint32_t *streams, uint32_t graph_task) {
  const td_catalog *catalog = self->catalog;
  uint32_t row = td_catalog_graph_task_row(catalog, graph_task), at = row, stream = TD_NONE;
  for (; at != TD_NO_ROW && streams[at] == UNKNOWN; at = outer_row(catalog, at)) {
    streams[at] = TD_NONE;
    if (outer_row(catalog, at) == TD_NO_ROW) stream = catalog->graph_task_rows[at].owner;
  }
  if (at != TD_NO_ROW && stream == TD_NONE) stream = streams[at];
  for (at = row; at != TD_NO_ROW && streams[at] == TD_NONE && stream != TD_NONE;
       at = outer_row(catalog, at))
    streams[at] = stream;
  return stream;
}

/* Event number at which a task began, as far as is known. */
static uint64_t
began(const td_visits *out, const td_visit_task *task) {
  uint64_t at = task->n ? out->visits[task->first].at : UINT64_MAX;
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(out->catalog, task->graph_task);
  uint64_t seq = facts ? facts->begin_seq : 0;
  return seq ? TD_MIN(seq, at) : at;
}

/* qsort has no argument for the visits, so each task carries what it is sorted by. */
typedef struct begun_task {
  uint64_t at;
  uint32_t place;
  td_visit_task task;
} begun_task;

static int
compare_begun(const void *a, const void *b) {
  const begun_task *left = a, *right = b;
  if (left->at != right->at) return left->at < right->at ? -1 : 1;
  return (left->place > right->place) - (left->place < right->place);
}

static bool
sort_tasks(td_visits *out) {
  begun_task *begun = td_try_alloc(out->n_tasks, sizeof *begun);
  if (!begun) return false;
  for (uint32_t i = 0; i < out->n_tasks; i++)
    begun[i] = (begun_task){began(out, &out->tasks[i]), i, out->tasks[i]};
  qsort(begun, out->n_tasks, sizeof *begun, compare_begun);
  for (uint32_t i = 0; i < out->n_tasks; i++)
    out->tasks[i] = begun[i].task;
  free(begun);
  return true;
}

static bool
list_tasks(collector *self) {
  td_visits *out = self->out;
  out->tasks = td_try_alloc((size_t)self->catalog->n_graph_tasks + 1, sizeof *out->tasks);
  uint32_t *streams = td_try_alloc(self->catalog->n_graph_tasks, sizeof *streams);
  for (uint32_t i = 0; streams && i < self->catalog->n_graph_tasks; i++)
    streams[i] = UNKNOWN;
  if (!out->tasks || !streams) {
    free(streams);
    return false;
  }
  for (uint32_t first = 0, end; first < out->n; first = end) {
    uint32_t graph_task = out->visits[first].graph_task;
    for (end = first; end < out->n && out->visits[end].graph_task == graph_task;)
      end++;
    out->tasks[out->n_tasks++] =
        (td_visit_task){graph_task, stream_of(self, streams, graph_task), first, end - first};
  }
  free(streams);
  return sort_tasks(out);
}

static bool
collect(collector *self) {
  td_visits *out = self->out;
  const td_segment *segment = &self->catalog->segment;
  td_tape_begin_pass(self->tape, segment);
  for (self->seq = segment->first; self->seq < segment->end && !self->out_of_memory; self->seq++) {
    const td_any_event *event = td_tape_peek(self->tape, self->seq);
    if (event) collect_event(self, event);
  }
  td_tape_end_pass(self->tape);
  if (self->out_of_memory) return false;
  sort_visits(self);
  attach_values(self);
  return td_likeness_init(&out->likeness, self->catalog) && list_tasks(self);
}

td_status
td_visits_collect(td_tape *tape, const td_catalog *catalog, td_visits *visits, td_error *error) {
  collector self = {.tape = tape, .catalog = catalog, .out = visits};
  *visits = (td_visits){.catalog = catalog};
  bool collected = collect(&self);
  td_number_map_fini(&self.latest);
  td_status status = collected ? td_tape_check_readable(tape, error)
                               : td_error_set(error, TD_OUT_OF_MEMORY, "no memory for its visits");
  if (status) td_visits_fini(visits);
  return status;
}

void
td_visits_fini(td_visits *visits) {
  free(visits->visits);
  free(visits->values);
  free(visits->tasks);
  td_likeness_fini(&visits->likeness);
  *visits = (td_visits){0};
}
