/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/diff_report.h"
#include "app/print/json_members.h"

static void
print_tape(td_json *json, const char *key, td_tape *tape, const td_diff_tape *facts) {
  td_json_key(json, key);
  td_json_begin_object(json);
  td_member_string(json, "path", td_tape_path(tape));
  td_member_string(json, "engine", facts->engine);
  td_member_string(json, "engine_version", facts->version);
  td_member_string(json, "source", facts->source);
  td_member_u64(json, "graph_tasks", facts->n_tasks);
  td_member_u64(json, "nodes", facts->n_nodes);
  td_json_end_object(json);
}

/* The members of a node; the caller's object goes on. */
static void
print_node_members(td_json *json, const td_visited_node *node) {
  td_member_u64(json, "node", node->node);
  td_member_string(json, "name", node->name);
  td_member_string(json, "label", node->label);
  td_member_id(json, "graph_task", node->graph_task);
}

static void
print_node(td_json *json, const char *key, const td_visited_node *node) {
  if (key) td_json_key(json, key);
  td_json_begin_object(json);
  print_node_members(json, node);
  td_json_end_object(json);
}

static void
print_lone_tasks(td_json *json, const char *key, const td_diff_tape *tape) {
  td_json_key(json, key);
  td_json_begin_array(json);
  for (uint32_t i = 0; i < tape->n_lone_tasks; i++)
    td_json_id(json, tape->lone_tasks[i]);
  td_json_end_array(json);
}

static void
print_tasks(td_json *json, const td_diff *diff) {
  td_json_key(json, "graph_tasks");
  td_json_begin_object(json);
  td_member_u64(json, "paired", diff->n_pairs);
  td_member_u64(json, "equal", diff->n_equal_pairs);
  print_lone_tasks(json, "only_a", &diff->a);
  print_lone_tasks(json, "only_b", &diff->b);
  td_json_end_object(json);
}

static void
print_lone_nodes(td_json *json, const char *key, const td_top_list *nodes) {
  const td_visited_node *items = nodes->items;
  td_json_key(json, key);
  td_json_begin_array(json);
  for (size_t i = 0; i < nodes->n; i++)
    print_node(json, NULL, &items[i]);
  td_json_end_array(json);
}

static void
print_nodes(td_json *json, const td_diff *diff) {
  td_json_key(json, "nodes");
  td_json_begin_object(json);
  td_member_u64(json, "paired", diff->n_paired);
  print_lone_nodes(json, "only_a", &diff->a.lone_nodes);
  print_lone_nodes(json, "only_b", &diff->b.lone_nodes);
  td_member_u64(json, "moved", diff->n_moved);
  td_member_u64(json, "reshaped", diff->n_reshaped);
  td_json_end_object(json);
}

static void
print_side(td_json *json, const char *key, const td_divergence_side *side) {
  td_json_key(json, key);
  if (!side->has_node) {
    td_json_null(json);
    return;
  }
  td_json_begin_object(json);
  print_node_members(json, &side->node);
  td_member_u64(json, "event", side->node.at);
  td_json_key(json, "ready");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < side->n_ready; i++)
    td_json_u64(json, side->ready[i]);
  td_json_end_array(json);
  td_member_string(json, "why", side->why);
  td_json_end_object(json);
}

static void
print_divergence(td_json *json, const td_diff *diff) {
  const td_divergence *divergence = &diff->divergence;
  td_json_key(json, "divergence");
  if (!diff->diverges) {
    td_json_null(json);
    return;
  }
  td_json_begin_object(json);
  td_member_string(json, "device", divergence->device);
  td_member_u64(json, "position", divergence->position);
  td_member_string(json, "cause", td_align_cause_name(divergence->cause));
  td_member_string(json, "text", divergence->text);
  print_side(json, "a", &divergence->a);
  print_side(json, "b", &divergence->b);
  td_json_end_object(json);
}

static void
print_names(td_json *json, const td_comparison *comparison) {
  td_json_key(json, "names");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < comparison->n_names; i++) {
    td_json_begin_object(json);
    td_member_string(json, "a", comparison->names[i].a);
    td_member_string(json, "b", comparison->names[i].b);
    td_member_u64(json, "count", comparison->names[i].count);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static void
print_side_of_value(td_json *json, const char *key, const td_compared_value *value, uint64_t event,
                    double number) {
  td_json_key(json, key);
  if (event == UINT64_MAX)
    td_json_null(json);
  else if (value->anomaly)
    td_json_string(json, value->anomaly);
  else
    td_json_double(json, number);
}

static void
print_value(td_json *json, const td_compared_value *value) {
  td_json_begin_object(json);
  print_node(json, "a", &value->a);
  print_node(json, "b", &value->b);
  td_member_string(json, "field", value->field);
  td_member_string(json, "place", value->place);
  td_member_u64(json, "number", value->number);
  print_side_of_value(json, "value_a", value, value->event_a, value->number_a);
  print_side_of_value(json, "value_b", value, value->event_b, value->number_b);
  td_member_found(json, "event_a", value->event_a);
  td_member_found(json, "event_b", value->event_b);
  td_json_end_object(json);
}

static void
print_values(td_json *json, const td_compared_values *values) {
  const td_compared_value *items = values->list.items;
  td_json_key(json, "values");
  td_json_begin_object(json);
  td_json_key(json, "tolerance");
  td_json_double(json, values->tolerance);
  td_member_u64(json, "compared", values->n_compared);
  td_json_key(json, "different");
  td_json_begin_array(json);
  for (size_t i = 0; i < values->list.n; i++)
    print_value(json, &items[i]);
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
print_durations(td_json *json, const td_comparison *comparison) {
  const td_compared_duration *items = comparison->durations.items;
  td_json_key(json, "durations");
  td_json_begin_object(json);
  print_times(json, comparison->a_ns, comparison->b_ns);
  td_json_key(json, "most");
  td_json_begin_array(json);
  for (size_t i = 0; i < comparison->durations.n; i++) {
    td_json_begin_object(json);
    print_node(json, "a", &items[i].a);
    print_node(json, "b", &items[i].b);
    print_times(json, items[i].a_ns, items[i].b_ns);
    td_json_end_object(json);
  }
  td_json_end_array(json);
  td_json_end_object(json);
}

void
td_diff_print_json(const td_diff_report *report) {
  const td_diff *diff = &report->diff;
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  print_tape(&json, "a", report->tape_a, &diff->a);
  print_tape(&json, "b", report->tape_b, &diff->b);
  td_member_bool(&json, "equal_order", diff->equal_order);
  print_tasks(&json, diff);
  print_nodes(&json, diff);
  print_divergence(&json, diff);
  print_names(&json, &diff->comparison);
  print_values(&json, &diff->comparison.values);
  print_durations(&json, &diff->comparison);
  td_json_end_object(&json);
  td_json_newline(&json);
}
