/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/event_list.h"

#include <glib/gi18n.h>

/* A tape belongs to one thread at a time, so a filter runs in the main thread, a slice per turn. */
#define SLICE_US 4000

typedef struct Filter {
  TdEventRule rule;
  uint64_t next;
  GArray *seqs; /* (owned) */
} Filter;

static void
filter_free(Filter *filter) {
  if (filter->seqs) g_array_unref(filter->seqs);
  g_free(filter);
}

const char *
td_event_filter_name(guint filter) {
  if (filter == 0) return _("All events");
  return filter <= TD_N_FAMILIES ? _(td_event_family_title((td_event_family)(filter - 1))) : NULL;
}

static gboolean
chooses(const TdEventRule *rule, const td_any_event *event) {
  if (rule->filter && td_event_type_get(event->event.kind)->family != rule->filter - 1)
    return FALSE;
  return rule->node == TD_NONE || td_event_names(&event->event, TD_ID_NODE, rule->node);
}

static gboolean
filter_slice(gpointer data) {
  GTask *task = data;
  Filter *filter = g_task_get_task_data(task);
  td_replay *replay = td_document_get_replay(g_task_get_source_object(task));
  if (g_task_return_error_if_cancelled(task)) return G_SOURCE_REMOVE;
  uint64_t end = td_replay_end(replay);
  gint64 deadline = g_get_monotonic_time() + SLICE_US;
  td_any_event event;
  for (; filter->next < end; filter->next++) {
    if (filter->next % 64 == 0 && g_get_monotonic_time() > deadline) return G_SOURCE_CONTINUE;
    if (td_replay_event(replay, filter->next, &event, NULL) != TD_OK) continue;
    if (chooses(&filter->rule, &event)) g_array_append_val(filter->seqs, filter->next);
  }
  TdDocument *document = g_task_get_source_object(task);
  GArray *seqs = g_steal_pointer(&filter->seqs);
  g_task_return_pointer(task, td_event_list_new_chosen(document, seqs), g_object_unref);
  return G_SOURCE_REMOVE;
}

void
td_event_filter_async(TdDocument *document, TdEventRule rule, GCancellable *cancellable,
                      GAsyncReadyCallback done, gpointer data) {
  GTask *task = g_task_new(document, cancellable, done, data);
  if (rule.filter == 0 && rule.node == TD_NONE) {
    g_task_return_pointer(task, td_event_list_new(document), g_object_unref);
    g_object_unref(task);
    return;
  }
  const td_catalog_node *node = td_catalog_node_find(td_document_get_catalog(document), rule.node);
  Filter *filter = g_new0(Filter, 1);
  filter->rule = rule;
  filter->next = td_replay_first(td_document_get_replay(document));
  if (node && node->created_seq != UINT64_MAX) filter->next = MAX(filter->next, node->created_seq);
  filter->seqs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  g_task_set_task_data(task, filter, (GDestroyNotify)filter_free);
  g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, filter_slice, task, g_object_unref);
}

TdEventList *
td_event_filter_finish(TdDocument *document, GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
