/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/diff_report.h"
#include "app/json_members.h"

#include <stdlib.h>

#define MOST_MAX 100

static void
print_tape(td_json *json, const char *key, td_tape *tape, const td_visits *visits) {
  td_json_key(json, key);
  td_json_begin_object(json);
  td_member_string(json, "path", td_tape_path(tape));
  td_member_string(json, "engine", visits->catalog->engine);
  td_member_string(json, "engine_version", visits->catalog->version);
  td_member_string(json, "source", visits->catalog->source);
  td_member_u64(json, "graph_tasks", visits->n_tasks);
  td_member_u64(json, "nodes", visits->n);
  td_json_end_object(json);
}

/* The members of a node; the caller's object goes on. */
static void
print_node_members(td_json *json, const td_visits *visits, uint32_t visit) {
  const td_visit *facts = &visits->visits[visit];
  td_member_u64(json, "node", facts->node);
  const td_catalog_node *node = &visits->catalog->node_rows[facts->row];
  td_member_string(json, "name", node->name);
  td_member_string(json, "label", node->label);
  td_member_id(json, "graph_task", facts->graph_task);
}

static void
print_node(td_json *json, const char *key, const td_visits *visits, uint32_t visit) {
  if (key) td_json_key(json, key);
  td_json_begin_object(json);
  print_node_members(json, visits, visit);
  td_json_end_object(json);
}

/* The tasks of one side that no pair has. */
static void
print_lone_tasks(td_json *json, const char *key, const td_align *align, const td_visits *visits) {
  bool *paired = calloc(visits->n_tasks + 1, sizeof *paired);
  for (uint32_t i = 0; paired && i < align->n_pairs; i++)
    paired[visits == &align->a ? align->pairs[i].task_a : align->pairs[i].task_b] = true;
  td_json_key(json, key);
  td_json_begin_array(json);
  for (uint32_t i = 0; paired && i < visits->n_tasks; i++)
    if (!paired[i]) td_json_id(json, visits->tasks[i].graph_task);
  td_json_end_array(json);
  free(paired);
}

static void
print_tasks(td_json *json, const td_align *align) {
  uint64_t n_equal = 0;
  for (uint32_t i = 0; i < align->n_pairs; i++)
    n_equal += align->pairs[i].equal;
  td_json_key(json, "graph_tasks");
  td_json_begin_object(json);
  td_member_u64(json, "paired", align->n_pairs);
  td_member_u64(json, "equal", n_equal);
  print_lone_tasks(json, "only_a", align, &align->a);
  print_lone_tasks(json, "only_b", align, &align->b);
  td_json_end_object(json);
}

static void
print_lone_nodes(td_json *json, const char *key, const td_visits *visits,
                 const uint32_t *partners) {
  td_json_key(json, key);
  td_json_begin_array(json);
  for (uint32_t i = 0; i < visits->n; i++)
    if (partners[i] == TD_NONE) print_node(json, NULL, visits, i);
  td_json_end_array(json);
}

static void
print_nodes(td_json *json, const td_align *align) {
  td_json_key(json, "nodes");
  td_json_begin_object(json);
  td_member_u64(json, "paired", align->n_paired);
  print_lone_nodes(json, "only_a", &align->a, align->partners_a);
  print_lone_nodes(json, "only_b", &align->b, align->partners_b);
  td_member_u64(json, "moved", align->n_moved);
  td_member_u64(json, "reshaped", align->n_reshaped);
  td_json_end_object(json);
}

static void
print_side(td_json *json, const char *key, const td_visits *visits, uint32_t visit,
           const td_divergence_side *side) {
  td_json_key(json, key);
  if (visit == TD_NONE) {
    td_json_null(json);
    return;
  }
  td_json_begin_object(json);
  print_node_members(json, visits, visit);
  td_member_u64(json, "event", visits->visits[visit].at);
  td_json_key(json, "ready");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < side->n_ready; i++)
    td_json_u64(json, side->ready[i]);
  td_json_end_array(json);
  td_member_string(json, "why", side->why);
  td_json_end_object(json);
}

static void
print_divergence(td_json *json, const td_align *align, const td_divergence *divergence) {
  const td_align_divergence *at = &align->divergence;
  const td_catalog *catalog = at->a == TD_NONE ? align->b.catalog : align->a.catalog;
  td_json_key(json, "divergence");
  if (!align->diverges) {
    td_json_null(json);
    return;
  }
  td_json_begin_object(json);
  td_member_string(json, "device", td_catalog_device_name(catalog, at->lane));
  td_member_u64(json, "position", at->position);
  td_member_string(json, "cause", td_align_cause_name(divergence->cause));
  td_member_string(json, "text", divergence->text);
  print_side(json, "a", &align->a, at->a, &divergence->a);
  print_side(json, "b", &align->b, at->b, &divergence->b);
  td_json_end_object(json);
}

static void
print_names(td_json *json, const td_align_names *names) {
  td_json_key(json, "names");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < names->n; i++) {
    td_json_begin_object(json);
    td_member_string(json, "a", names->items[i].a);
    td_member_string(json, "b", names->items[i].b);
    td_member_u64(json, "count", names->items[i].count);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static void
print_event(td_json *json, const char *key, const td_visits *visits, uint32_t value) {
  td_json_key(json, key);
  if (value == TD_NONE)
    td_json_null(json);
  else
    td_json_u64(json, visits->values[value].seq);
}

static void
print_side_of_value(td_json *json, const char *key, const td_visits *visits, uint32_t value,
                    double number) {
  td_json_key(json, key);
  if (value == TD_NONE)
    td_json_null(json);
  else if (visits->values[value].kind == TD_EVENT_anomaly)
    td_json_string(json,
                   td_enum_word(TD_FIELD_ENUM_anomaly_kind, visits->values[value].anomaly.kind));
  else
    td_json_double(json, number);
}

static void
print_value(td_json *json, const td_align *align, const td_align_value *item) {
  const td_visit_value *value =
      item->value_a != TD_NONE ? &align->a.values[item->value_a] : &align->b.values[item->value_b];
  td_field_type places =
      value->kind == TD_EVENT_anomaly ? TD_FIELD_ENUM_birthplace : TD_FIELD_ENUM_stats_place;
  td_json_begin_object(json);
  print_node(json, "a", &align->a, item->visit_a);
  print_node(json, "b", &align->b, item->visit_b);
  td_member_string(json, "field", item->field);
  td_member_string(json, "place", td_enum_word(places, value->place));
  td_member_u64(json, "number", value->number);
  print_side_of_value(json, "value_a", &align->a, item->value_a, item->a);
  print_side_of_value(json, "value_b", &align->b, item->value_b, item->b);
  print_event(json, "event_a", &align->a, item->value_a);
  print_event(json, "event_b", &align->b, item->value_b);
  td_json_end_object(json);
}

static void
print_values(td_json *json, const td_diff_report *report) {
  td_json_key(json, "values");
  td_json_begin_object(json);
  td_json_key(json, "tolerance");
  td_json_double(json, report->tolerance);
  td_member_u64(json, "compared", report->values.n_compared);
  td_json_key(json, "different");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < report->values.n; i++)
    print_value(json, &report->align, &report->values.items[i]);
  td_json_end_array(json);
  td_json_end_object(json);
}

static void
print_times(td_json *json, uint64_t a_ns, uint64_t b_ns) {
  td_member_u64(json, "a_ns", a_ns);
  td_member_u64(json, "b_ns", b_ns);
  td_json_key(json, "ratio");
  td_json_double(json, (double)b_ns / (double)a_ns); /* not finite: null */
}

static void
print_durations(td_json *json, const td_align *align, const td_align_durations *durations) {
  td_json_key(json, "durations");
  td_json_begin_object(json);
  print_times(json, durations->a_ns, durations->b_ns);
  td_json_key(json, "most");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < durations->n && i < MOST_MAX; i++) {
    uint32_t a = durations->visits[i], b = align->partners_a[a];
    td_json_begin_object(json);
    print_node(json, "a", &align->a, a);
    print_node(json, "b", &align->b, b);
    print_times(json, td_visit_ns(&align->a.visits[a]), td_visit_ns(&align->b.visits[b]));
    td_json_end_object(json);
  }
  td_json_end_array(json);
  td_json_end_object(json);
}

void
td_diff_print_json(const td_diff_report *report) {
  const td_align *align = &report->align;
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  print_tape(&json, "a", report->tape_a, &align->a);
  print_tape(&json, "b", report->tape_b, &align->b);
  td_member_bool(&json, "equal_order", align->equal_order);
  print_tasks(&json, align);
  print_nodes(&json, align);
  print_divergence(&json, align, &report->divergence);
  print_names(&json, &report->names);
  print_values(&json, report);
  print_durations(&json, align, &report->durations);
  td_json_end_object(&json);
  td_json_newline(&json);
}
