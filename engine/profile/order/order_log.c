/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/order_log.h"

#include "engine/base/alloc.h"
#include "engine/profile/chosen.h"

#include <string.h>

/* So many edges have the graphs of an honest tape for each event at most. */
#define EDGES_PER_EVENT 16
#define TRIM_LEAST 4096

void
td_order_log_init(td_order_log *log, const td_tape_info *info, uint32_t graph_task,
                  td_order_log_listener listen, void *data) {
  *log = (td_order_log){.listen = listen,
                        .data = data,
                        .graph_task = graph_task,
                        .edges_left = EDGES_PER_EVENT * (info->n_events + TRIM_LEAST),
                        .changes_numbers = info->n_by_kind[TD_EVENT_node_sequence_nr] > 0,
                        .trim_at = TRIM_LEAST};
}

const td_order_step *
td_order_log_step(const td_order_log *log, size_t place) {
  return &log->steps[place - log->n_dropped];
}

static td_logged_pass *
pass_of(const td_order_log *log, uint32_t graph_task) {
  const uint64_t *slot = td_number_map_find(&log->slots, graph_task);
  return slot && *slot ? log->passes[*slot - 1] : NULL;
}

/* The catalog has the last number of a node on the tape. */
static uint64_t
number_of(const td_order_log *log, const td_catalog *catalog, uint32_t node) {
  const uint64_t *number = td_number_map_find(&log->numbers, node);
  if (number && *number) return *number - 1;
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  return facts ? facts->sequence_nr : 0;
}

static void
note_number(td_order_log *log, uint32_t node, uint64_t number) {
  if (log->changes_numbers) *td_number_map_put(&log->numbers, node) = number + 1;
}

/* ---- passes ---- */

static uint32_t
find_slot(td_order_log *log) {
  if (log->n_free) return log->free_slots[--log->n_free];
  TD_GROW(log->passes, log->n_slots, log->slot_capacity);
  return log->n_slots++;
}

static void
join(td_order_log *log, td_logged_pass *pass) {
  pass->since = log->first ? log->first->begin : pass->begin;
  pass->before = log->last;
  *(log->last ? &log->last->after : &log->first) = pass;
  log->last = pass;
}

static void
leave(td_order_log *log, const td_logged_pass *pass) {
  *(pass->before ? &pass->before->after : &log->first) = pass->after;
  *(pass->after ? &pass->after->before : &log->last) = pass->before;
}

/* Other passes are logged too, because they may share queues with the one that is wanted. */
static void
begin_outermost(td_order_log *log, uint32_t graph_task) {
  uint32_t slot = find_slot(log);
  td_logged_pass *pass = log->passes[slot] = TD_NEW(td_logged_pass);
  *pass = (td_logged_pass){.graph_task = graph_task, .begin = log->n_dropped + log->n_steps};
  join(log, pass);
  *td_number_map_put(&log->slots, graph_task) = 1 + (uint64_t)slot;
}

static void
pay_edges(td_order_log *log, const td_logged_pass *pass, uint32_t n_before) {
  uint64_t n = pass->graph.n_targets - n_before;
  log->edges_left -= TD_MIN(log->edges_left, n);
}

static void
begin(td_order_log *log, const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  if (!facts || pass_of(log, graph_task)) return;
  if (facts->outer == TD_NONE) begin_outermost(log, graph_task);
  td_logged_pass *pass = pass_of(log, facts->outer == TD_NONE ? graph_task : facts->outer);
  if (!pass || !log->edges_left) return;
  const uint64_t *slot = td_number_map_find(&log->slots, pass->graph_task);
  uint64_t number = *slot;
  *td_number_map_put(&log->slots, graph_task) = number;
  uint32_t n_before = pass->graph.n_targets;
  td_pass_graph_begin(&pass->graph, catalog, facts, number_of(log, catalog, facts->root));
  pay_edges(log, pass, n_before);
}

static void
add_node(td_order_log *log, const td_catalog *catalog, uint32_t graph_task, uint32_t node) {
  td_logged_pass *pass = pass_of(log, graph_task);
  if (!pass || !log->edges_left) return;
  uint32_t n_before = pass->graph.n_targets;
  td_pass_graph_add(&pass->graph, catalog, graph_task, node, number_of(log, catalog, node));
  pay_edges(log, pass, n_before);
}

static void
pass_free(td_logged_pass *pass) {
  if (!pass) return;
  td_pass_graph_fini(&pass->graph);
  free(pass->pops);
  free(pass);
}

/* What was before all passes under way, and those beside them, is not needed any more. */
static void
trim(td_order_log *log) {
  size_t all = log->n_dropped + log->n_steps;
  size_t n = (log->first ? log->first->since : all) - log->n_dropped;
  if (n) memmove(log->steps, log->steps + n, (log->n_steps - n) * sizeof *log->steps);
  log->n_dropped += n;
  log->n_steps -= n;
  log->trim_at = TD_MAX(2 * log->n_steps, (size_t)TRIM_LEAST);
}

static void
end_slot(td_order_log *log, uint32_t slot, uint32_t status) {
  td_logged_pass *pass = log->passes[slot];
  if (log->graph_task == TD_NONE || log->graph_task == pass->graph_task)
    log->listen(pass, status, log->data);
  for (uint32_t i = 0; i < pass->graph.n_passes; i++)
    *td_number_map_put(&log->slots, pass->graph.passes[i].graph_task) = 0;
  log->passes[slot] = NULL;
  TD_GROW(log->free_slots, log->n_free, log->free_capacity);
  log->free_slots[log->n_free++] = slot;
  leave(log, pass);
  pass_free(pass);
  if (!log->first) td_number_map_fini(&log->slots);
  if (log->n_steps > log->trim_at || !log->first) trim(log);
}

static void
end(td_order_log *log, const td_event_graph_task_end *event) {
  td_logged_pass *pass = pass_of(log, event->graph_task);
  if (!pass || pass->graph_task != event->graph_task) return;
  end_slot(log, (uint32_t)*td_number_map_find(&log->slots, event->graph_task) - 1, event->status);
}

/* ---- steps ---- */

static void
note_push(td_order_log *log, const td_order_step *step) {
  td_logged_pass *pass = pass_of(log, step->graph_task);
  if (!pass) return;
  uint32_t place = td_pass_graph_find(&pass->graph, step->graph_task, step->node);
  if (place != TD_NONE) pass->graph.nodes[place].queue = step->queue;
}

static void
note_pop(td_order_log *log, const td_order_step *step, size_t place) {
  td_logged_pass *pass = pass_of(log, step->graph_task);
  if (!pass || pass->has_failed || step->node == TD_NONE) return;
  TD_GROW(pass->pops, pass->n_pops, pass->capacity);
  pass->pops[pass->n_pops++] = place;
}

static void
take_step(td_order_log *log, const td_any_event *event, uint64_t seq) {
  td_order_step step;
  if (!log->first || !td_order_step_take(event, &step)) return;
  step.seq = seq;
  step.is_chosen =
      step.kind == TD_EVENT_queue_pop && td_chosen_is_for(&log->chosen, &event->queue_pop);
  step.by = log->chosen.by;
  if (step.kind == TD_EVENT_queue_push) note_push(log, &step);
  if (step.kind == TD_EVENT_queue_pop) note_pop(log, &step, log->n_dropped + log->n_steps);
  TD_GROW(log->steps, log->n_steps, log->capacity);
  log->steps[log->n_steps++] = step;
}

static void
fail(td_order_log *log, uint32_t graph_task) {
  td_logged_pass *pass = pass_of(log, graph_task);
  if (pass) pass->has_failed = true;
}

static void
take(td_order_log *log, const td_catalog *catalog, const td_any_event *any, uint64_t seq) {
  switch (any->event.kind) {
  case TD_EVENT_node_new:
    return note_number(log, any->node_new.node, any->node_new.sequence_nr);
  case TD_EVENT_node_sequence_nr:
    note_number(log, any->node_sequence_nr.node, any->node_sequence_nr.sequence_nr);
    break;
  case TD_EVENT_graph_task_begin:
    return begin(log, catalog, any->graph_task_begin.graph_task);
  case TD_EVENT_dependency:
    return add_node(log, catalog, any->dependency.graph_task, any->dependency.node);
  case TD_EVENT_exec_info: {
    const td_event_exec_info *event = &any->exec_info;
    td_logged_pass *pass = pass_of(log, event->graph_task);
    if (pass)
      td_pass_graph_restrict(&pass->graph, event->graph_task, event->node,
                             event->needed || event->captures);
    return;
  }
  case TD_EVENT_error:
    return fail(log, any->error.graph_task);
  case TD_EVENT_graph_task_end:
    return end(log, &any->graph_task_end);
  default:
    break;
  }
  take_step(log, any, seq);
}

void
td_order_log_take(td_order_log *log, const td_catalog *catalog, const td_any_event *any,
                  uint64_t seq) {
  take(log, catalog, any, seq);
  bool is_choice = any->event.kind == TD_EVENT_task_chosen;
  log->chosen = is_choice ? any->task_chosen : (td_event_task_chosen){0};
}

void
td_order_log_end(td_order_log *log) {
  for (uint32_t i = 0; i < log->n_slots; i++)
    if (log->passes[i]) end_slot(log, i, TD_task_status_running);
}

void
td_order_log_fini(td_order_log *log) {
  for (uint32_t i = 0; i < log->n_slots; i++)
    pass_free(log->passes[i]);
  free(log->passes);
  free(log->free_slots);
  free(log->steps);
  td_number_map_fini(&log->slots);
  td_number_map_fini(&log->numbers);
}
