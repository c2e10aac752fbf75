/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/facts.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/knowledge.h"
#include "engine/profile/report/report_keys.h"
#include "engine/profile/source_place.h"
#include "ui/draw/node_label.h"

#include <string.h>

enum { MOST_OF_STACK = 4000 }; /* bytes */

static const uint64_t most_exact = (uint64_t)1 << 53; /* of JavaScript's numbers */

/* ---- members; a text that is missing is left out ---- */

void
td_page_member(td_json *json, const char *key, const char *text) {
  if (!text || !*text) return;
  td_json_key(json, key);
  td_json_string(json, text);
}

static void
member_taken(td_json *json, const char *key, char *text) {
  td_page_member(json, key, text);
  free(text);
}

static void
member_line(td_json *json, const char *key, const char *text, size_t max) {
  if (text) member_taken(json, key, td_line_dup(text, max));
}

static void
member_number(td_json *json, const char *key, uint64_t number) {
  td_json_key(json, key);
  number < most_exact ? td_json_u64(json, number) : td_json_null(json);
}

static void
member_id(td_json *json, const char *key, uint32_t id) {
  td_json_key(json, key);
  td_json_id(json, id);
}

/* ---- the tape ---- */

static const char *
name_of_file(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

void
td_page_facts_write_tape(td_json *json, td_replay *replay) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_tape_info *info = td_tape_info_get(td_replay_tape(replay));
  td_json_key(json, "tape");
  td_json_begin_object(json);
  member_line(json, "file", name_of_file(td_tape_path(td_replay_tape(replay))), TD_TEXT_SHOWN);
  member_line(json, "source", name_of_file(catalog->source), TD_TEXT_SHOWN);
  member_line(json, "engine", catalog->engine, TD_NAME_SHOWN);
  member_line(json, "version", catalog->version, TD_NAME_SHOWN);
  td_page_member(json, "level", td_knowledge_level_name(catalog->probe_level));
  member_line(json, "reason", catalog->probe_reason, TD_TEXT_SHOWN);
  member_number(json, "events", info->n_events);
  member_number(json, "dropped", info->n_dropped);
  member_line(json, "damage", info->damage, TD_TEXT_SHOWN);
  td_json_end_object(json);
}

static void
write_enum(td_json *json, const char *key, td_field_type type, uint32_t n) {
  td_json_key(json, key);
  td_json_begin_array(json);
  for (uint32_t i = 0; i < n; i++)
    td_json_string(json, td_enum_word(type, i));
  td_json_end_array(json);
}

void
td_page_facts_write_words(td_json *json) {
  td_json_key(json, "states");
  td_json_begin_array(json);
  for (int i = 0; i < TD_N_NODE_STATES; i++)
    td_json_string(json, td_node_state_name((td_node_state)i));
  td_json_end_array(json);
  write_enum(json, "activities", TD_FIELD_ENUM_thread_activity, TD_thread_activity_LIMIT);
  write_enum(json, "statuses", TD_FIELD_ENUM_task_status, TD_task_status_LIMIT);
  write_enum(json, "locks", TD_FIELD_ENUM_lock_kind, TD_lock_kind_LIMIT);
  write_enum(json, "anomalies", TD_FIELD_ENUM_anomaly_kind, TD_anomaly_kind_LIMIT);
  write_enum(json, "births", TD_FIELD_ENUM_birthplace, TD_birthplace_LIMIT);
  write_enum(json, "hook_kinds", TD_FIELD_ENUM_hook_kind, TD_hook_kind_LIMIT);
}

/* ---- nodes ---- */

static char *
key_of(const td_catalog *catalog, uint32_t node, td_report_by by) {
  const td_life life = {.node = node};
  return td_line_make(td_report_life_key(by, catalog, &life, TD_NONE), TD_NAME_SHOWN);
}

/* Shapes of the gradients that a node expects. */
static void
write_inputs(td_json *json, const td_catalog *catalog, const td_catalog_node *facts) {
  td_json_key(json, "inputs");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < TD_MIN(facts->n_metadata, 16u); i++) {
    const td_catalog_metadata *input = &catalog->metadata[facts->first_metadata + i];
    td_json_begin_object(json);
    member_number(json, "nr", input->input_nr);
    member_line(json, "shape", input->shape, TD_NAME_SHOWN);
    member_line(json, "dtype", input->dtype, TD_NAME_SHOWN);
    member_number(json, "bytes", input->bytes);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static uint32_t
keep_stack(td_page_sentences *says, const char *stack) {
  if (!stack || !*stack) return 0;
  size_t length = strlen(stack);
  const char *end = length > MOST_OF_STACK ? stack + length - MOST_OF_STACK : stack;
  return td_page_sentences_put(says, td_dup_string(end));
}

static void
write_node(td_json *json, const td_catalog *catalog, uint32_t node, td_page_sentences *says) {
  const td_catalog_node *facts = td_catalog_node_get(catalog, node);
  td_json_begin_object(json);
  member_number(json, "id", node);
  member_line(json, "name", facts->name, TD_NAME_SHOWN);
  member_taken(json, "title", td_line_make(td_node_title(catalog, node), TD_NAME_SHOWN));
  member_number(json, "sequence_nr", facts->sequence_nr);
  member_number(json, "topological_nr", facts->topological_nr);
  td_json_key(json, "device");
  td_json_i64(json, facts->device);
  member_line(json, "device_name", td_catalog_device_label(catalog, facts->device), TD_NAME_SHOWN);
  member_line(json, "label", facts->label, TD_NAME_SHOWN);
  char *module = td_catalog_module_label(catalog, node);
  if (module) member_taken(json, "module", td_line_make(module, TD_NAME_SHOWN));
  member_taken(json, "line", td_source_place(facts->stack));
  member_number(json, "stack", keep_stack(says, facts->stack));
  member_taken(json, "by_op", key_of(catalog, node, TD_REPORT_BY_op));
  member_taken(json, "by_module", key_of(catalog, node, TD_REPORT_BY_module));
  member_taken(json, "by_line", key_of(catalog, node, TD_REPORT_BY_line));
  member_taken(json, "by_node", key_of(catalog, node, TD_REPORT_BY_node));
  write_inputs(json, catalog, facts);
  td_json_end_object(json);
}

void
td_page_facts_write_nodes(td_json *json, const td_page_nodes *nodes, td_page_sentences *says) {
  td_json_key(json, "nodes");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < nodes->n; i++)
    write_node(json, nodes->catalog, nodes->ids[i], says);
  td_json_end_array(json);
}

/* ---- threads, queues, passes ---- */

void
td_page_facts_write_threads(td_json *json, const td_catalog *catalog,
                            const td_page_changes *changes) {
  td_json_key(json, "threads");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_threads; i++) {
    if (!changes->has_thread[i]) continue;
    td_json_begin_object(json);
    member_number(json, "id", i);
    member_taken(json, "name", td_line_make(td_catalog_thread_label(catalog, i), TD_NAME_SHOWN));
    member_line(json, "device", td_catalog_device_label(catalog, catalog->threads[i].device),
                TD_NAME_SHOWN);
    member_taken(json, "key", td_line_make(td_report_thread_name(catalog, i), TD_NAME_SHOWN));
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

void
td_page_facts_write_queues(td_json *json, const td_catalog *catalog,
                           const td_page_changes *changes) {
  td_json_key(json, "queues");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_queues; i++) {
    if (!changes->has_queue[i]) continue;
    td_json_begin_object(json);
    member_number(json, "id", i);
    td_json_key(json, "number");
    td_json_i64(json, catalog->queues[i].device);
    member_line(json, "device", td_catalog_device_label(catalog, catalog->queues[i].device),
                TD_NAME_SHOWN);
    member_taken(json, "key", td_line_make(td_report_queue_name(catalog, i), TD_NAME_SHOWN));
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

void
td_page_facts_write_passes(td_json *json, const td_page_nodes *nodes,
                           const td_page_graphs *graphs) {
  td_json_key(json, "passes");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < graphs->n; i++) {
    const td_catalog_graph_task *pass =
        td_catalog_graph_task_get(nodes->catalog, graphs->items[i].graph_task);
    td_json_begin_object(json);
    member_number(json, "id", pass->id);
    member_number(json, "depth", pass->depth);
    member_id(json, "outer", pass->outer);
    member_id(json, "caller", td_page_nodes_find(nodes, pass->caller));
    member_number(json, "begin", pass->begin_seq);
    member_number(json, "end", pass->end_seq);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

/* ---- kinds of events ---- */

void
td_page_facts_write_kinds(td_json *json, const td_tape_info *info, const td_page_changes *changes) {
  bool occurs[TD_EVENT_LIMIT] = {false};
  for (uint32_t i = 1; i < changes->n_events; i++)
    occurs[changes->events[i].kind] = true;
  td_json_key(json, "kinds");
  td_json_begin_object(json);
  for (uint32_t kind = 1; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    char key[16];
    if (!occurs[kind] || !type) continue;
    snprintf(key, sizeof key, "%u", kind);
    td_json_key(json, key);
    td_json_begin_array(json);
    td_json_string(json, type->name);
    td_json_string(json, type->summary);
    td_json_string(json, td_enum_word(TD_FIELD_ENUM_knowledge, info->known[kind]));
    td_json_end_array(json);
  }
  td_json_end_object(json);
}
