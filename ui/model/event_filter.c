/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/event_list.h"

#include <glib/gi18n.h>

/* A tape belongs to one thread at a time, so a filter runs in the main thread, a slice per turn. */
#define SLICE_US 4000

static const struct {
  const char *name;
  uint16_t first, last; /* event kinds; the tens of events.def */
  uint16_t but;         /* a kind between them that is not meant, or 0 */
} families[] = {
    {N_("All events"), 0, UINT16_MAX},
    {N_("Nodes"), TD_EVENT_node_begin, TD_EVENT_accumulate},
    {N_("Ready queues"), TD_EVENT_queue_new, TD_EVENT_queue_shutdown},
    {N_("Input buffers"), TD_EVENT_buffer_new, TD_EVENT_dependency_dec},
    {N_("Threads and locks"), TD_EVENT_thread_new, TD_EVENT_thread_end},
    {N_("Devices"), TD_EVENT_kernel_begin, TD_EVENT_kernel_end},
    {N_("Graph"), TD_EVENT_node_new, TD_EVENT_node_module},
    {N_("Backward passes"), TD_EVENT_graph_task_begin, TD_EVENT_final_callback},
    {N_("Re-entry and the thread pool"), TD_EVENT_reentrant_enter, TD_EVENT_pool_thread_new},
    {N_("Numbers"), TD_EVENT_tensor_stats, TD_EVENT_tensor_stats},
    {N_("Trouble"), TD_EVENT_anomaly, TD_EVENT_breakpoint_hit, TD_EVENT_tensor_stats},
};

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
td_event_family_name(guint family) {
  return family < G_N_ELEMENTS(families) ? _(families[family].name) : NULL;
}

gboolean
td_event_names_node(const td_any_event *event, uint32_t node) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  for (guint i = 0; type && i < type->n_fields; i++)
    if (type->fields[i].type == TD_FIELD_NODE &&
        (uint32_t)td_event_field_get(&event->event, &type->fields[i]) == node)
      return TRUE;
  return FALSE;
}

static gboolean
chooses(const TdEventRule *rule, const td_any_event *event) {
  uint16_t kind = event->event.kind;
  if (kind < families[rule->family].first || kind > families[rule->family].last) return FALSE;
  if (kind == families[rule->family].but) return FALSE;
  return rule->node == TD_NONE || td_event_names_node(event, rule->node);
}

static gboolean
filter_slice(gpointer data) {
  GTask *task = data;
  Filter *filter = g_task_get_task_data(task);
  td_replay *replay = td_document_get_replay(g_task_get_source_object(task));
  if (g_task_return_error_if_cancelled(task)) return G_SOURCE_REMOVE;
  uint64_t end = td_replay_length(replay);
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
  if (rule.family == 0 && rule.node == TD_NONE) {
    g_task_return_pointer(task, td_event_list_new(document), g_object_unref);
    g_object_unref(task);
    return;
  }
  const td_graph *graph = td_document_get_graph(document);
  Filter *filter = g_new0(Filter, 1);
  filter->rule = rule;
  if (rule.node < graph->n_nodes && graph->nodes[rule.node].created_seq != UINT64_MAX)
    filter->next = graph->nodes[rule.node].created_seq;
  filter->seqs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  g_task_set_task_data(task, filter, (GDestroyNotify)filter_free);
  g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, filter_slice, task, g_object_unref);
}

TdEventList *
td_event_filter_finish(TdDocument *document, GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
