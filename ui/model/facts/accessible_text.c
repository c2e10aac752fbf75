/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts/accessible_text.h"

#include "engine/rules/task_order.h"
#include "ui/geometry/format.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/facts/node_state_text.h"

#include <glib/gi18n.h>

char *
td_accessible_node(TdDocument *document, uint32_t node) {
  g_autofree char *name = td_document_dup_node_words(document, node);
  g_autofree char *state = td_node_state_dup_now(document, node);
  return g_strdup_printf("%s, %s", name, state);
}

char *
td_accessible_node_whole(TdDocument *document, uint32_t node) {
  g_autofree char *name = td_document_dup_node_words(document, node);
  const td_catalog_node *facts = td_catalog_node_find(td_document_get_catalog(document), node);
  if (!facts) return g_steal_pointer(&name);
  g_autofree char *state = td_node_state_dup_now(document, node);
  g_autofree char *number = td_node_dup_sequence(facts->sequence_nr);
  return g_strdup_printf("%s, %s, %s", name, number, state);
}

char *
td_accessible_more(uint32_t n) {
  g_autofree char *count = td_format_count(n);
  return g_strdup_printf(_("%s more"), count);
}

char *
td_accessible_queue(TdDocument *document, uint32_t queue) {
  const td_catalog *catalog = td_document_get_catalog(document);
  uint32_t n = td_state_queue(td_document_get_state(document), queue)->n;
  const char *device = td_catalog_device_label(catalog, catalog->queues[queue].device);
  g_autofree char *count = n ? td_format_many(n, "task", "tasks") : g_strdup(_("empty"));
  return g_strdup_printf(_("Queue %u on %s: %s"), queue, device, count);
}

char *
td_accessible_queues(TdDocument *document) {
  const td_catalog *catalog = td_document_get_catalog(document);
  GString *text = g_string_new(NULL);
  for (uint32_t i = 0; i < catalog->n_queues; i++) {
    uint32_t n = td_state_queue(td_document_get_state(document), i)->n;
    const char *device = td_catalog_device_label(catalog, catalog->queues[i].device);
    if (!n) continue;
    if (text->len) g_string_append_c(text, ' ');
    g_string_append_printf(text, _("Queue %u on %s holds %u."), i, device, n);
  }
  if (!text->len) g_string_append(text, _("All queues are empty."));
  return g_string_free(text, FALSE);
}

/* A dummy task wakes a thread, and has no node. */
static char *
dup_task_name(TdDocument *document, const td_queue_entry *task) {
  if (task->kind == TD_TASK_SHUTDOWN) return g_strdup(_("shutdown"));
  if (!td_catalog_has_node(td_document_get_catalog(document), task->node))
    return g_strdup(_("wake-up"));
  return td_document_dup_node_words(document, task->node);
}

static char *
dup_task(TdDocument *document, const td_queue_entry *task, uint32_t place) {
  const td_catalog *catalog = td_document_get_catalog(document);
  const td_catalog_node *facts = td_catalog_node_find(catalog, task->node);
  g_autofree char *name = dup_task_name(document, task);
  uint32_t depth = td_catalog_depth(catalog, task->graph_task);
  if (!facts) return g_strdup_printf(_("%u: %s, depth %u"), place, name, depth);
  g_autofree char *number = td_node_dup_sequence(facts->sequence_nr);
  return g_strdup_printf(_("%u: %s, depth %u, %s"), place, name, depth, number);
}

uint32_t
td_accessible_tasks(TdDocument *document, uint32_t queue, uint32_t room, TdAccessibleTask *tasks) {
  const td_state *state = td_document_get_state(document);
  uint32_t n = MIN(td_state_queue(state, queue)->n, room);
  g_autofree td_queue_entry *entries = g_new(td_queue_entry, n);
  td_state_queue_first(state, td_document_get_catalog(document), queue, n, entries);
  for (uint32_t i = 0; i < n; i++)
    tasks[i] = (TdAccessibleTask){entries[i].node, dup_task(document, &entries[i], i + 1)};
  return n;
}

char *
td_accessible_last(TdDocument *document, uint32_t queue) {
  uint32_t node = td_state_queue(td_document_get_state(document), queue)->last_node;
  if (!td_catalog_has_node(td_document_get_catalog(document), node)) return NULL;
  g_autofree char *name = td_accessible_node(document, node);
  return g_strdup_printf(_("last popped: %s"), name);
}
