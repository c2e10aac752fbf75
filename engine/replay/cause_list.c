/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/cause_list.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

#include <stdlib.h>

#define ABSORBED_MAX 100000

typedef struct td_cause_problem {
  td_event event; /* its head */
  bool asks;      /* it may have a cause */
  uint32_t node, graph_task;
  uint64_t seq, cause, write; /* the write is what a conflict asks for */
} problem;

static uint64_t
key_of(uint32_t counter, uint32_t version) {
  return (uint64_t)counter << 32 | version;
}

static bool
may_have_cause(const td_event *event) {
  return event->kind == TD_EVENT_error || event->kind == TD_EVENT_version_conflict ||
         (event->kind == TD_EVENT_anomaly &&
          (((const td_event_anomaly *)event)->kind == TD_anomaly_kind_nan ||
           ((const td_event_anomaly *)event)->born == TD_birthplace_parameter));
}

static bool
is_minded(const td_event *event) {
  return event->kind == TD_EVENT_anomaly || may_have_cause(event);
}

/* ---- making the list ---- */

static void
ask_for_write(td_cause_list *self, problem *of, const td_event_version_conflict *conflict) {
  of->write = key_of(conflict->counter, conflict->saved + 1);
  td_number_map_put(&self->writes, of->write);
}

static bool
ends_with_error(const problem *earlier, const problem *error) {
  return earlier->event.kind != TD_EVENT_error && earlier->node == error->node &&
         earlier->graph_task == error->graph_task;
}

static void
look_back(const td_cause_list *self, problem *error) {
  for (uint32_t i = self->n; i > 0 && error->cause == TD_NO_CAUSE && error->node != TD_NONE; i--)
    if (ends_with_error(&self->problems[i - 1], error)) error->cause = self->problems[i - 1].seq;
}

/* They may lead to problems, and are none. */
static void
note_absorbed(td_cause_list *self, const td_event *event, uint64_t seq) {
  td_any_event absorbed = {.absorbed = *(const td_event_absorbed *)event};
  td_event_anomaly birth;
  if (self->births.n < ABSORBED_MAX && td_birth_of(&absorbed, &birth))
    td_births_add(&self->births, seq, &birth);
}

void
td_cause_list_take(td_cause_list *self, const td_event *event, uint64_t seq) {
  if (event->kind == TD_EVENT_carried) td_births_add_carried(&self->births, (const void *)event);
  if (event->kind == TD_EVENT_absorbed) note_absorbed(self, event, seq);
  if (!is_minded(event) || self->n == TD_CATALOG_CAUSES) return;
  problem made = {.event = *event, .asks = may_have_cause(event), .seq = seq, .cause = TD_NO_CAUSE};
  made.node = td_event_u32(event, td_event_type_get(event->kind)->list.about);
  made.graph_task = td_event_graph_task(event);
  if (event->kind == TD_EVENT_version_conflict) ask_for_write(self, &made, (const void *)event);
  if (event->kind == TD_EVENT_error) look_back(self, &made);
  if (event->kind == TD_EVENT_anomaly) td_births_add(&self->births, seq, (const void *)event);
  if (!self->problems) self->problems = TD_NEW_N(problem, TD_CATALOG_CAUSES);
  self->problems[self->n++] = made;
}

void
td_cause_list_take_write(td_cause_list *self, const td_event *event, uint64_t seq) {
  if (event->kind != TD_EVENT_tensor_write || self->writes.n == 0) return;
  const td_event_tensor_write *write = (const void *)event;
  uint64_t *found = td_number_map_find(&self->writes, key_of(write->counter, write->version));
  if (found && *found == 0) *found = seq + 1;
}

void
td_cause_list_search(td_cause_list *self, const td_catalog *graph) {
  size_t birth = 0;
  for (uint32_t i = 0; i < self->n; i++) {
    problem *at = &self->problems[i];
    if (at->event.kind != TD_EVENT_anomaly) continue;
    while (self->births.items[birth].seq != at->seq)
      birth++;
    const td_event_anomaly *anomaly = &self->births.items[birth].event;
    if (at->asks && at->seq >= graph->segment.first && at->seq < graph->segment.end)
      td_cause_find_among(graph, &self->births, at->seq, anomaly, &at->cause);
  }
}

bool
td_cause_list_concerns(const td_cause_list *self, uint64_t first) {
  const td_births *births = &self->births;
  for (size_t i = births->n; i > 0 && births->items[i - 1].seq >= first; i--)
    if (may_have_cause(&births->items[i - 1].event.event)) return true;
  return false;
}

/* A write comes before the conflict that it leads to. */
static uint64_t
cause_of(const td_cause_list *self, const problem *of) {
  if (of->event.kind != TD_EVENT_version_conflict) return of->cause;
  uint64_t write = *td_number_map_find(&self->writes, of->write);
  return write && write - 1 < of->seq ? write - 1 : TD_NO_CAUSE;
}

td_catalog_cause *
td_cause_list_make(const td_cause_list *self, uint32_t *n) {
  td_catalog_cause *made = TD_NEW_N(td_catalog_cause, self->n);
  *n = 0;
  for (uint32_t i = 0; i < self->n; i++)
    if (self->problems[i].asks)
      made[(*n)++] = (td_catalog_cause){self->problems[i].seq, cause_of(self, &self->problems[i])};
  return made;
}

void
td_cause_list_put(const td_cause_list *self, td_keyframe *outline) {
  for (uint32_t i = 0; i < self->n; i++) {
    const problem *of = &self->problems[i];
    td_event_cause_now event = {.event = of->event, .cause = cause_of(self, of)};
    event.event.kind = TD_EVENT_cause_now;
    event.event.size = sizeof event;
    if (of->asks) td_keyframe_put(outline, &event.event, of->seq);
  }
}

/* The writes into one tensor stand together. */
static void
read_writes(td_cause_list *self, const td_catalog *catalog, td_tape *tape, uint64_t key) {
  uint32_t n;
  const td_catalog_mention *writes =
      td_catalog_mentions_of(catalog, TD_LIST_writes, (uint32_t)(key >> 32), &n);
  td_any_event event;
  for (uint32_t i = 0; i < n && *td_number_map_find(&self->writes, key) == 0; i++)
    if (td_tape_get(tape, writes[i].seq, &event, NULL) == TD_OK)
      td_cause_list_take_write(self, &event.event, writes[i].seq);
}

static void
read_list(td_cause_list *self, const td_catalog_mentions *list, td_tape *tape) {
  td_any_event event;
  for (uint32_t i = 0; i < list->n; i++)
    if (td_tape_get(tape, list->items[i].seq, &event, NULL) == TD_OK)
      td_cause_list_take(self, &event.event, list->items[i].seq);
}

void
td_cause_list_read(td_cause_list *self, const td_catalog *catalog, td_tape *tape) {
  const td_catalog_mentions *problems = &catalog->mentions[TD_LIST_problems];
  td_any_event event;
  read_list(self, &catalog->mentions[TD_LIST_absorbed], tape);
  for (uint32_t i = 0; i < problems->n && self->n < TD_CATALOG_CAUSES; i++)
    if (td_tape_get(tape, problems->items[i].seq, &event, NULL) == TD_OK)
      td_cause_list_take(self, &event.event, problems->items[i].seq);
  read_list(self, &catalog->mentions[TD_LIST_carried], tape);
  for (uint32_t i = 0; i < self->writes.n; i++)
    read_writes(self, catalog, tape, self->writes.entries[i].key);
  td_cause_list_search(self, catalog);
}

void
td_cause_list_fini(td_cause_list *self) {
  free(self->problems);
  td_births_fini(&self->births);
  td_number_map_fini(&self->writes);
  *self = (td_cause_list){0};
}

/* ---- looking up ---- */

static bool
is_write_of(const td_event_version_conflict *conflict, const td_any_event *earlier) {
  return earlier->event.kind == TD_EVENT_tensor_write &&
         earlier->tensor_write.counter == conflict->counter &&
         earlier->tensor_write.version == conflict->saved + 1;
}

static bool
ends_in(const td_event_error *error, const td_any_event *earlier) {
  const td_event *event = &earlier->event;
  bool is_of_node = event->kind == TD_EVENT_anomaly || event->kind == TD_EVENT_version_conflict;
  return is_of_node && td_event_graph_task(event) == error->graph_task &&
         td_event_u32(event, td_event_type_get(event->kind)->list.about) == error->node;
}

static bool
can_lead(const td_any_event *problem, const td_any_event *earlier) {
  td_event_anomaly birth;
  switch (problem->event.kind) {
  case TD_EVENT_anomaly:
    return td_birth_of(earlier, &birth) && td_cause_can_lead(&problem->anomaly, &birth);
  case TD_EVENT_version_conflict:
    return is_write_of(&problem->version_conflict, earlier);
  case TD_EVENT_error:
    return ends_in(&problem->error, earlier);
  default:
    return false;
  }
}

td_cause_known
td_cause_look_up(const td_catalog_cause *causes, uint32_t n, td_tape *tape, uint64_t seq,
                 const td_any_event *problem, uint64_t *cause) {
  td_any_event earlier;
  uint32_t at;
  if (!may_have_cause(&problem->event)) return TD_CAUSE_none;
  TD_BISECT(at, 0, n, causes[at].seq < seq);
  if (at == n || causes[at].seq != seq) return TD_CAUSE_unknown;
  if (causes[at].cause == TD_NO_CAUSE) return TD_CAUSE_none;
  *cause = causes[at].cause;
  bool is_possible = *cause < seq && td_tape_get(tape, *cause, &earlier, NULL) == TD_OK &&
                     can_lead(problem, &earlier);
  return is_possible ? TD_CAUSE_found : TD_CAUSE_impossible;
}
