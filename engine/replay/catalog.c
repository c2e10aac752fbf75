/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/catalog.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/base/line.h"

#include <stdlib.h>
#include <string.h>

void
td_catalog_free(td_catalog *catalog) {
  if (!catalog) return;
  td_id_rows_fini(&catalog->node_ids);
  td_id_rows_fini(&catalog->graph_task_ids);
  free(catalog->node_rows);
  free(catalog->node_places);
  free(catalog->graph_task_places);
  free(catalog->edges);
  free(catalog->in_edges);
  free(catalog->metadata);
  free(catalog->threads);
  free(catalog->queues);
  free(catalog->graph_task_rows);
  for (uint32_t i = 0; i < catalog->n_devices; i++)
    free(catalog->devices[i].label);
  free(catalog->devices);
  free(catalog->processes);
  free(catalog->ran);
  free(catalog->steps);
  free(catalog->left_out);
  free(catalog->stretches);
  free(catalog->causes);
  free(catalog->settings);
  free(catalog->streams);
  for (int list = 0; list < TD_N_LISTS; list++)
    free(catalog->mentions[list].items);
  free(catalog);
}

static bool
has(const td_catalog *catalog, td_id_space space, uint32_t id) {
  switch (space) {
  case TD_ID_NODE:
    return td_catalog_has_node(catalog, id);
  case TD_ID_GRAPH_TASK:
    return td_catalog_has_graph_task(catalog, id);
  case TD_ID_THREAD:
    return id < catalog->n_threads;
  case TD_ID_QUEUE:
    return id < catalog->n_queues;
  default:
    return true;
  }
}

static bool
has_all(const td_catalog *catalog, const td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  bool found = has(catalog, TD_ID_THREAD, event->thread);
  for (uint16_t i = 0; i < type->n_fields && found; i++) {
    const td_field *field = &type->fields[i];
    if (field->form != TD_FORM_id) continue;
    uint32_t id = (uint32_t)td_event_field_get(event, field);
    found = id == TD_NONE || has(catalog, field->space, id);
  }
  return found;
}

td_status
td_catalog_event(const td_catalog *catalog, td_tape *tape, uint64_t seq, td_any_event *out,
                 td_error *error) {
  bool is_inside = seq >= catalog->segment.first && seq < catalog->segment.end;
  td_status status = td_tape_get(tape, seq, out, error);
  if (status || is_inside || has_all(catalog, &out->event)) return status;
  return td_error_set(error, TD_OUT_OF_RANGE, "event %llu is of another segment",
                      (unsigned long long)seq);
}

bool
td_catalog_declares(const td_catalog *catalog, const td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  bool declared = true;
  for (uint16_t i = 0; i < type->n_fields && declared; i++) {
    if (type->fields[i].space != TD_ID_NODE) continue;
    uint32_t id = (uint32_t)td_event_field_get(event, &type->fields[i]);
    const td_catalog_node *facts = td_catalog_node_find(catalog, id);
    declared = id == TD_NONE || (facts && facts->created_seq != UINT64_MAX);
  }
  return declared;
}

/* NULL if the tape does not name the device. */
static const td_catalog_device *
find_device(const td_catalog *catalog, int32_t device) {
  uint32_t at;
  TD_BISECT(at, 0, catalog->n_devices, catalog->devices[at].device < device);
  const td_catalog_device *found = &catalog->devices[at];
  return at < catalog->n_devices && found->device == device && *found->name ? found : NULL;
}

static const char *
unnamed_device(int32_t device) {
  return device == TD_DEVICE_CPU ? "cpu" : device == TD_DEVICE_META ? "meta" : "unknown";
}

const char *
td_catalog_device_name(const td_catalog *catalog, int32_t device) {
  const td_catalog_device *found = find_device(catalog, device);
  return found ? found->name : unnamed_device(device);
}

const char *
td_catalog_device_label(const td_catalog *catalog, int32_t device) {
  const td_catalog_device *found = find_device(catalog, device);
  return found ? found->label : unnamed_device(device);
}

const char *
td_catalog_setting_find(const td_catalog *catalog, const char *name) {
  for (uint32_t i = 0; i < catalog->n_settings; i++)
    if (strcmp(catalog->settings[i].name, name) == 0) return catalog->settings[i].value;
  return "";
}

/* A module without a name has its class in parentheses: "(Net)". */
static char *
without_parentheses(char *module) {
  size_t length = strlen(module);
  if (length <= 2 || module[0] != '(' || module[length - 1] != ')') return NULL;
  char *class = td_format("%.*s", (int)length - 2, module + 1);
  free(module);
  return class;
}

char *
td_catalog_module_label(const td_catalog *catalog, uint32_t node) {
  return td_catalog_node_module_label(td_catalog_node_find(catalog, node));
}

char *
td_catalog_node_module_label(const td_catalog_node *facts) {
  if (!facts || !facts->module || !*facts->module) return NULL;
  char *module = td_line_dup(facts->module, TD_NAME_SHOWN);
  char *bare = without_parentheses(module);
  if (bare) return bare;
  if (!facts->module_class || !*facts->module_class) return module;
  char *class = td_line_dup(facts->module_class, TD_NAME_SHOWN);
  char *label = td_format("%s · %s", class, module);
  free(class);
  free(module);
  return label;
}

static char *
label_process(const td_catalog_process *facts) {
  char *name = td_line_dup(facts->name, TD_NAME_SHOWN);
  char *label = td_format("%s (%u)", name, facts->pid);
  free(name);
  return label;
}

char *
td_catalog_process_label(const td_catalog *catalog, uint32_t process) {
  const td_catalog_process *facts =
      process < catalog->n_processes ? &catalog->processes[process] : NULL;
  if (facts && facts->rank >= 0) return td_format("rank %d", (int)facts->rank);
  if (facts && *facts->name && facts->pid) return label_process(facts);
  if (facts && *facts->name) return td_line_dup(facts->name, TD_NAME_SHOWN);
  return td_format("process %u", process);
}

char *
td_catalog_thread_label(const td_catalog *catalog, uint32_t thread) {
  const td_catalog_thread *facts = thread < catalog->n_threads ? &catalog->threads[thread] : NULL;
  char *name = facts && *facts->name ? td_line_dup(facts->name, TD_NAME_SHOWN)
                                     : td_format("thread %u", thread);
  if (!facts || catalog->n_processes < 2) return name;
  char *process = td_catalog_process_label(catalog, facts->process);
  char *label = td_format("%s · %s", process, name);
  free(process);
  free(name);
  return label;
}

static uint32_t
process_of(const td_catalog *catalog, uint32_t thread) {
  return thread < catalog->n_threads ? catalog->threads[thread].process : 0;
}

uint32_t
td_catalog_process_of_task(const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  return facts ? process_of(catalog, facts->owner) : 0;
}

uint32_t
td_catalog_process_of_queue(const td_catalog *catalog, uint32_t queue) {
  return queue < catalog->n_queues ? process_of(catalog, catalog->queues[queue].owner) : 0;
}

const td_catalog_mention *
td_catalog_mentions_of(const td_catalog *catalog, td_event_list list, uint32_t node, uint32_t *n) {
  const td_catalog_mentions *mentions = &catalog->mentions[list];
  uint32_t first, end;
  TD_BISECT(first, 0, mentions->n, mentions->items[first].node < node);
  TD_BISECT(end, first, mentions->n, mentions->items[end].node == node);
  *n = end - first;
  return &mentions->items[first];
}

/* The edges to a node stand in rising order, so by the node that they come from. */
static uint32_t
first_from(const td_catalog *catalog, const td_catalog_node *to, uint64_t from) {
  uint32_t at;
  TD_BISECT(at, to->first_in, to->first_in + to->n_in,
            catalog->edges[catalog->in_edges[at]].from < from);
  return at;
}

const uint32_t *
td_catalog_edges_between(const td_catalog *catalog, uint32_t from, uint32_t to, uint32_t *n) {
  const td_catalog_node *facts = td_catalog_node_get(catalog, to);
  uint32_t first = first_from(catalog, facts, from);
  *n = first_from(catalog, facts, (uint64_t)from + 1) - first;
  return &catalog->in_edges[first];
}

const td_catalog_metadata *
td_catalog_metadata_find(const td_catalog *catalog, const td_catalog_node *node,
                         uint32_t input_nr) {
  const td_catalog_metadata *all = catalog->metadata + node->first_metadata;
  uint32_t at;
  TD_BISECT(at, 0, node->n_metadata, all[at].input_nr < input_nr);
  return at < node->n_metadata && all[at].input_nr == input_nr ? &all[at] : NULL;
}
