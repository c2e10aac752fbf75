/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/stops/stop_search.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"

#include <string.h>

/* So many events are read between two questions for patience. */
#define STRIDE 4096

struct td_stop_search {
  td_tape *tape;                  /* (borrowed) */
  const td_condition *conditions; /* (borrowed) [n] */
  uint32_t n;
  bool looks_at[TD_EVENT_LIMIT]; /* some condition looks at such events */
  uint64_t by_name;              /* the conditions that ask for a node's names */
  bool knows_segment;
  td_segment segment;  /* whose names are known */
  td_number_map named; /* by node: the conditions that its names fulfil */
};

/* Where a search goes on, and how long. */
typedef struct walk {
  td_stop_patience patience;
  void *data;
  uint32_t n_read;
} walk;

static void
note_kinds(td_stop_search *self, const td_condition *condition, uint64_t bit) {
  td_event_kind kind = td_condition_event(condition);
  self->looks_at[kind] = true;
  if (kind == TD_EVENT_queue_push) self->looks_at[TD_EVENT_queue_wake] = true;
  bool by_number = condition->kind == TD_CONDITION_NODE;
  if (kind == TD_EVENT_node_begin && !by_number) self->by_name |= bit;
}

td_stop_search *
td_stop_search_new(td_tape *tape, const td_condition *conditions, uint32_t n) {
  td_stop_search *self = TD_NEW(td_stop_search);
  self->tape = tape;
  self->conditions = conditions;
  self->n = TD_MIN(n, TD_STOPS_MAX);
  for (uint32_t i = 0; i < self->n; i++)
    note_kinds(self, &conditions[i], UINT64_C(1) << i);
  return self;
}

void
td_stop_search_free(td_stop_search *self) {
  if (!self) return;
  td_number_map_fini(&self->named);
  free(self);
}

td_condition_moment
td_stop_moment_of_node(uint32_t node, const char *name, const char *module, const char *label) {
  return (td_condition_moment){
      .event = TD_EVENT_node_begin, .number = node, .name = name, .module = module, .label = label};
}

static uint64_t
judge(const td_stop_search *self, const td_condition_moment *moment, uint64_t among) {
  uint64_t holding = 0;
  for (uint32_t i = 0; i < self->n; i++)
    if (among >> i & 1 && td_condition_holds(&self->conditions[i], moment))
      holding |= UINT64_C(1) << i;
  return holding;
}

/* ---- names ---- */

static void
note_names(td_stop_search *self, uint32_t node, const char *name, const char *module,
           const char *label) {
  td_condition_moment moment = td_stop_moment_of_node(node, name, module, label);
  uint64_t holding = judge(self, &moment, self->by_name);
  if (holding) *td_number_map_put(&self->named, node) |= holding;
}

static td_status
learn(const td_any_event *event, uint64_t seq, void *data) {
  td_stop_search *self = data;
  td_tape *tape = self->tape;
  if (event->event.kind == TD_EVENT_node_new)
    note_names(self, event->node_new.node, td_tape_string(tape, event->node_new.name), NULL, NULL);
  if (event->event.kind == TD_EVENT_node_module)
    note_names(self, event->node_module.node, NULL, td_tape_string(tape, event->node_module.module),
               NULL);
  if (event->event.kind == TD_EVENT_node_label)
    note_names(self, event->node_label.node, NULL, NULL,
               td_tape_string(tape, event->node_label.label));
  return TD_OK;
}

static bool
has_patience(walk *walk) {
  return ++walk->n_read % STRIDE || !walk->patience || walk->patience(walk->data);
}

/* A node's names may be told after it ran: so all of them first. */
static td_status
learn_segment(td_stop_search *self, const td_segment *segment, walk *walk, td_error *error) {
  if (!self->by_name || (self->knows_segment && self->segment.first == segment->first))
    return TD_OK;
  td_number_map_fini(&self->named);
  self->named = (td_number_map){0};
  self->knows_segment = false;
  td_status status = td_tape_visit_keyframe(self->tape, segment, learn, self, error);
  for (uint64_t seq = segment->first; seq < segment->end && !status; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) learn(event, seq, self);
    if (!has_patience(walk)) status = td_error_set(error, TD_INVALID, "cancelled");
  }
  self->segment = *segment;
  self->knows_segment = !status;
  return status;
}

/* ---- events ---- */

static unsigned
troubles_of(const td_any_event *event) {
  if (event->event.kind == TD_EVENT_error) return TD_TROUBLE_ERROR;
  return event->anomaly.kind == TD_anomaly_kind_inf ? TD_TROUBLE_INF : TD_TROUBLE_NAN;
}

static td_condition_moment
moment_of_size(uint32_t size) {
  return (td_condition_moment){
      .event = TD_EVENT_queue_push, .amount = size, .before = size ? size - 1 : 0};
}

/* An event of a kind that some condition looks at. */
static td_condition_moment
moment_of(const td_stop_search *self, const td_any_event *event) {
  td_event_kind kind = event->event.kind;
  switch (kind) {
  case TD_EVENT_graph_task_begin:
    return (td_condition_moment){.event = kind, .number = event->graph_task_begin.graph_task};
  case TD_EVENT_node_begin:
    return (td_condition_moment){.event = kind, .number = event->node_begin.node};
  case TD_EVENT_tensor_stats:
    return (td_condition_moment){.event = kind, .amount = event->tensor_stats.l2};
  case TD_EVENT_queue_push:
    return moment_of_size(event->queue_push.size);
  case TD_EVENT_queue_wake:
    return moment_of_size(event->queue_wake.size);
  case TD_EVENT_queue_pop:
    return (td_condition_moment){.event = kind,
                                 .amount = (double)event->queue_pop.waited,
                                 .has_others = event->queue_pop.size > 0};
  case TD_EVENT_dependency_dec:
    return (td_condition_moment){.event = event->dependency_dec.left ? TD_EVENT_LIMIT : kind,
                                 .number = event->dependency_dec.node};
  case TD_EVENT_step:
    return (td_condition_moment){.event = kind, .number = event->step.iteration};
  case TD_EVENT_hook_begin:
    return (td_condition_moment){.event = kind,
                                 .name = td_tape_string(self->tape, event->hook_begin.owner)};
  default:
    return (td_condition_moment){.event = kind, .troubles = troubles_of(event)};
  }
}

static uint64_t
judge_event(const td_stop_search *self, uint64_t seq) {
  const td_any_event *event = td_tape_peek(self->tape, seq);
  if (!event || !self->looks_at[event->event.kind]) return 0;
  td_condition_moment moment = moment_of(self, event);
  uint64_t holding = judge(self, &moment, ~self->by_name);
  if (event->event.kind != TD_EVENT_node_begin || !self->by_name) return holding;
  const uint64_t *named = td_number_map_find(&self->named, event->node_begin.node);
  return named ? holding | *named : holding;
}

static td_status
find_forwards(td_stop_search *self, uint64_t from, walk *walk, td_stop_hit *hit, td_error *error) {
  uint64_t end = td_tape_info_get(self->tape)->n_events;
  while (from < end) {
    td_segment segment = td_tape_segment_at(self->tape, from);
    td_status status = learn_segment(self, &segment, walk, error);
    for (; from < segment.end && !status; from++) {
      *hit = (td_stop_hit){from, judge_event(self, from)};
      if (hit->conditions) return TD_OK;
      if (!has_patience(walk)) status = td_error_set(error, TD_INVALID, "cancelled");
    }
    if (status) return status;
  }
  return td_error_set(error, TD_OUT_OF_RANGE, "no further stop");
}

static td_status
find_backwards(td_stop_search *self, uint64_t from, walk *walk, td_stop_hit *hit, td_error *error) {
  from = TD_MIN(from, td_tape_info_get(self->tape)->n_events);
  while (from > 0) {
    td_segment segment = td_tape_segment_at(self->tape, from - 1);
    td_status status = learn_segment(self, &segment, walk, error);
    for (; from > segment.first && !status; from--) {
      *hit = (td_stop_hit){from - 1, judge_event(self, from - 1)};
      if (hit->conditions) return TD_OK;
      if (!has_patience(walk)) status = td_error_set(error, TD_INVALID, "cancelled");
    }
    if (status) return status;
  }
  return td_error_set(error, TD_OUT_OF_RANGE, "no stop before");
}

td_status
td_stop_search_find(td_stop_search *self, uint64_t from, bool forwards, td_stop_patience patience,
                    void *data, td_stop_hit *hit, td_error *error) {
  walk walk = {patience, data, 0};
  td_stop_hit found;
  td_status status = forwards ? find_forwards(self, from, &walk, &found, error)
                              : find_backwards(self, from, &walk, &found, error);
  if (!status) *hit = found;
  return status ? status : td_tape_check_readable(self->tape, error);
}

td_status
td_stop_search_count(td_stop_search *self, td_stop_patience patience, void *data,
                     uint64_t counts[TD_STOPS_MAX], td_error *error) {
  walk walk = {patience, data, 0};
  td_stop_hit hit;
  uint64_t from = 0;
  td_status status;
  memset(counts, 0, TD_STOPS_MAX * sizeof *counts);
  while (!(status = find_forwards(self, from, &walk, &hit, error))) {
    for (uint32_t i = 0; i < self->n; i++)
      counts[i] += hit.conditions >> i & 1;
    from = hit.seq + 1;
  }
  if (status != TD_OUT_OF_RANGE) return status;
  td_error_clear(error);
  return td_tape_check_readable(self->tape, error);
}
