/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/document_texts.h"
#include "ui/model/events/event_list.h"

#include <glib/gi18n.h>

/* A tape belongs to one thread at a time, so a filter runs in the main thread, a slice per turn. */
#define SLICE_US 4000

typedef struct Filter {
  TdEventRule rule;
  char **words; /* (owned), small */
  uint64_t next, end;
  GArray *seqs; /* (owned) */
} Filter;

static void
filter_free(Filter *filter) {
  if (filter->seqs) g_array_unref(filter->seqs);
  g_strfreev(filter->words);
  g_free(filter);
}

const char *
td_event_filter_name(guint filter) {
  if (filter == 0) return _("All events");
  return filter <= TD_N_FAMILIES ? _(td_event_family_title((td_event_family)(filter - 1))) : NULL;
}

static char **
split_words(const char *text) {
  g_autofree char *small = g_utf8_strdown(text ? text : "", -1);
  return g_strsplit_set(small, " \t", -1);
}

static gboolean
has_words(TdDocument *document, uint64_t seq, char **words) {
  if (!*words) return TRUE;
  g_autofree char *text = td_document_dup_event_text(document, seq);
  g_autofree char *small = g_utf8_strdown(text, -1);
  for (; *words; words++)
    if (!strstr(small, *words)) return FALSE;
  return TRUE;
}

/* The sentence is made last, since it takes longest. */
static gboolean
chooses(const Filter *filter, TdDocument *document, const td_any_event *event) {
  const TdEventRule *rule = &filter->rule;
  if (rule->filter && td_event_type_get(event->event.kind)->family != rule->filter - 1)
    return FALSE;
  if (rule->to_ns && (event->event.time < rule->from_ns || event->event.time > rule->to_ns))
    return FALSE;
  if (rule->node != TD_NONE && !td_event_names(&event->event, TD_ID_NODE, rule->node)) return FALSE;
  return has_words(document, filter->next, filter->words);
}

gboolean
td_event_rule_lists_all(const TdEventRule *rule) {
  const char *words = rule->words ? rule->words : "";
  return rule->filter == 0 && rule->node == TD_NONE && !rule->to_ns &&
         words[strspn(words, " \t")] == '\0';
}

static gboolean
filter_slice(gpointer data) {
  GTask *task = data;
  Filter *filter = g_task_get_task_data(task);
  TdDocument *document = g_task_get_source_object(task);
  td_replay *replay = td_document_get_replay(document);
  if (g_task_return_error_if_cancelled(task)) return G_SOURCE_REMOVE;
  gint64 deadline = g_get_monotonic_time() + SLICE_US;
  td_any_event event;
  for (; filter->next < filter->end; filter->next++) {
    if (filter->next % 16 == 0 && g_get_monotonic_time() > deadline) return G_SOURCE_CONTINUE;
    if (td_replay_event(replay, filter->next, &event, NULL) != TD_OK) continue;
    if (chooses(filter, document, &event)) g_array_append_val(filter->seqs, filter->next);
  }
  GArray *seqs = g_steal_pointer(&filter->seqs);
  g_task_return_pointer(task, td_event_list_new_chosen(document, seqs), g_object_unref);
  return G_SOURCE_REMOVE;
}

/* Times ascend, so only the events of the range are read, and one before it. */
static void
set_range(Filter *filter, td_replay *replay) {
  const TdEventRule *rule = &filter->rule;
  filter->next = td_replay_first(replay);
  filter->end = td_replay_end(replay);
  if (!rule->to_ns) return;
  uint64_t first = rule->from_ns ? td_tape_seq_at(td_replay_tape(replay), rule->from_ns - 1) : 0;
  uint64_t last = td_tape_seq_at(td_replay_tape(replay), rule->to_ns);
  filter->next = MAX(filter->next, first);
  filter->end = MIN(filter->end, last + 1);
}

void
td_event_filter_async(TdDocument *document, TdEventRule rule, GCancellable *cancellable,
                      GAsyncReadyCallback done, gpointer data) {
  GTask *task = g_task_new(document, cancellable, done, data);
  if (td_event_rule_lists_all(&rule)) {
    g_task_return_pointer(task, td_event_list_new(document), g_object_unref);
    g_object_unref(task);
    return;
  }
  const td_catalog_node *node = td_catalog_node_find(td_document_get_catalog(document), rule.node);
  Filter *filter = g_new0(Filter, 1);
  filter->rule = rule;
  filter->rule.words = NULL;
  filter->words = split_words(rule.words);
  set_range(filter, td_document_get_replay(document));
  if (node && node->created_seq != UINT64_MAX) filter->next = MAX(filter->next, node->created_seq);
  filter->seqs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  g_task_set_task_data(task, filter, (GDestroyNotify)filter_free);
  g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, filter_slice, task, g_object_unref);
}

TdEventList *
td_event_filter_finish(TdDocument *document, GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
