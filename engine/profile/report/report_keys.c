/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/report_keys.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/source_place.h"
#include "engine/profile/words.h"

#include <string.h>

#define CONSUMERS_MAX 8 /* how far a node without a module looks for one */

bool
td_report_is_of_node(td_report_by by) {
  return by == TD_REPORT_BY_op || by == TD_REPORT_BY_module || by == TD_REPORT_BY_line ||
         by == TD_REPORT_BY_node;
}

void
td_report_key_kinds(td_report_by by, bool kinds[TD_EVENT_LIMIT]) {
  static const uint16_t needed[TD_N_REPORT_BYS][4] = {
      [TD_REPORT_BY_op] = {TD_EVENT_node_new},
      [TD_REPORT_BY_module] = {TD_EVENT_node_new, TD_EVENT_node_module, TD_EVENT_edge_new},
      [TD_REPORT_BY_line] = {TD_EVENT_node_new, TD_EVENT_edge_new},
      [TD_REPORT_BY_node] = {TD_EVENT_node_new, TD_EVENT_node_label},
      [TD_REPORT_BY_thread] = {TD_EVENT_thread_new, TD_EVENT_process_new},
      [TD_REPORT_BY_queue] = {TD_EVENT_queue_new, TD_EVENT_queue_pop, TD_EVENT_device_new},
      [TD_REPORT_BY_lock] = {TD_EVENT_node_new, TD_EVENT_node_label, TD_EVENT_thread_new,
                             TD_EVENT_process_new},
      [TD_REPORT_BY_rank] = {TD_EVENT_thread_new, TD_EVENT_process_new}};
  memset(kinds, false, TD_EVENT_LIMIT * sizeof *kinds);
  for (size_t i = 0; i < TD_N_ELEMENTS(needed[by]); i++)
    if (needed[by][i]) kinds[needed[by][i]] = true;
}

static char *
op_of(const td_catalog *catalog, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  return td_dup_string(facts && *facts->name ? facts->name : "(no name)");
}

/* A leaf, or the transpose of a weight, is made outside its module: it belongs to the module whose
 * function takes its value, and sends it a gradient. */
uint32_t
td_report_module_node(const td_catalog *catalog, uint32_t node) {
  for (int i = 0; i < CONSUMERS_MAX; i++) {
    const td_catalog_node *facts = td_catalog_node_find(catalog, node);
    if (!facts) return TD_NONE;
    if (facts->module && *facts->module) return node;
    if (!facts->n_in) return TD_NONE;
    node = catalog->edges[catalog->in_edges[facts->first_in]].from;
  }
  return TD_NONE;
}

char *
td_report_user_module(const td_catalog *catalog, uint32_t node) {
  return td_catalog_module_label(catalog, td_report_module_node(catalog, node));
}

static char *
module_of(const td_catalog *catalog, uint32_t node) {
  char *module = td_report_user_module(catalog, node);
  return module ? module : td_dup_string("(no module)");
}

char *
td_report_user_line(const td_catalog *catalog, uint32_t node) {
  for (int i = 0; i < CONSUMERS_MAX; i++) {
    const td_catalog_node *facts = td_catalog_node_find(catalog, node);
    char *place = facts ? td_source_place(facts->stack) : NULL;
    if (place || !facts || !facts->n_in) return place;
    node = catalog->edges[catalog->in_edges[facts->first_in]].from;
  }
  return NULL;
}

static char *
line_of(const td_catalog *catalog, uint32_t node) {
  char *line = td_report_user_line(catalog, node);
  return line ? line : td_dup_string("(no line)");
}

char *
td_report_node_name(const td_catalog *catalog, uint32_t node) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return td_format("node %u", node);
  td_words_node_again(out, catalog, node);
  fclose(out);
  return text;
}

char *
td_report_thread_name(const td_catalog *catalog, uint32_t thread) {
  const char *name = catalog->threads[thread].name;
  if (catalog->n_processes < 2)
    return *name ? td_format("%u %s", thread, name) : td_format("%u", thread);
  char *label = td_catalog_thread_label(catalog, thread);
  char *text = td_format("%u %s", thread, label);
  free(label);
  return text;
}

const char *
td_report_device_name(const td_catalog *catalog, int32_t device) {
  for (uint32_t i = 0; i < catalog->n_devices; i++)
    if (catalog->devices[i].device == device) return catalog->devices[i].name;
  return "";
}

char *
td_report_stream_name(const td_catalog *catalog, int32_t device, int32_t stream) {
  const char *name = td_report_device_name(catalog, device);
  char *of = *name ? td_dup_string(name) : td_format("device %d", device);
  char *told =
      stream < 0 ? td_format("all streams of %s", of) : td_format("stream %d of %s", stream, of);
  free(of);
  return told;
}

char *
td_report_queue_name(const td_catalog *catalog, uint32_t queue) {
  if (queue == TD_NONE) return td_dup_string("(no queue)");
  bool is_known = queue < catalog->n_queues; /* that of a lock need not be */
  const char *device =
      td_report_device_name(catalog, is_known ? catalog->queues[queue].device : TD_DEVICE_CPU);
  return *device ? td_format("%u %s", queue, device) : td_format("%u", queue);
}

char *
td_report_gil_name(const td_catalog *catalog, uint32_t process) {
  if (catalog->n_processes < 2) return td_dup_string("GIL");
  char *label = td_catalog_process_label(catalog, process);
  char *name = td_format("GIL of %s", label);
  free(label);
  return name;
}

char *
td_report_lock_name(const td_catalog *catalog, uint32_t kind, uint32_t object) {
  if (kind == TD_lock_kind_node) return td_report_node_name(catalog, object);
  if (kind == TD_lock_kind_gil) return td_report_gil_name(catalog, object);
  if (kind != TD_lock_kind_queue) return td_dup_string("graph task");
  char *queue = td_report_queue_name(catalog, object);
  char *name = td_format("queue %s", queue);
  free(queue);
  return name;
}

char *
td_report_life_key(td_report_by by, const td_catalog *catalog, const td_life *life,
                   uint32_t graph_task) {
  switch (by) {
  case TD_REPORT_BY_op:
    return op_of(catalog, life->node);
  case TD_REPORT_BY_module:
    return module_of(catalog, life->node);
  case TD_REPORT_BY_line:
    return line_of(catalog, life->node);
  case TD_REPORT_BY_node:
    return td_report_node_name(catalog, life->node);
  case TD_REPORT_BY_thread:
    return td_report_thread_name(catalog, life->thread);
  case TD_REPORT_BY_queue:
    return td_report_queue_name(catalog, life->queue);
  case TD_REPORT_BY_rank:
    return td_catalog_process_label(catalog, catalog->threads[life->thread].process);
  default:
    return td_format("%u", graph_task);
  }
}

char *
td_report_span_key(const td_catalog *catalog, td_tape *tape, const td_life_span *span) {
  if (span->kind == TD_EVENT_hook_begin) {
    const char *owner = td_tape_string(tape, span->owner);
    return td_dup_string(*owner ? owner : "(no name)");
  }
  const char *kind = td_enum_word(TD_FIELD_ENUM_lock_kind, span->lock);
  if (span->lock == TD_lock_kind_node) return td_report_node_name(catalog, span->object);
  if (span->lock == TD_lock_kind_gil) return td_report_gil_name(catalog, span->object);
  return td_format("%s %u", kind ? kind : "lock", span->object);
}
