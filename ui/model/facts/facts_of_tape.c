/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/knowledge.h"
#include "engine/profile/model/prediction.h"
#include "ui/geometry/format.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/facts/fact_list.h"
#include "ui/model/facts/facts.h"
#include "ui/model/findings/problems.h"

#include <glib/gi18n.h>
#include <stdlib.h>

static char *
devices_text(const td_catalog *catalog) {
  GString *text = g_string_new(NULL);
  for (uint32_t i = 0; i < catalog->n_devices; i++)
    g_string_append_printf(text, "%s%s", i ? ", " : "", catalog->devices[i].name);
  return g_string_free(text, FALSE);
}

static char *
started_text(const td_tape_info *info) {
  g_autoptr(GDateTime) start =
      g_date_time_new_from_unix_local((gint64)(info->started_ns / 1000000000u));
  return start ? g_date_time_format(start, "%x %X") : g_strdup("");
}

static char *
recorded_engine(const td_catalog *catalog) {
  const char *engine = g_str_equal(catalog->engine, "pytorch") ? "PyTorch" : catalog->engine;
  const char *gap = *catalog->version ? " " : "";
  if (catalog->probe_level == 0) return g_strdup_printf("%s%s%s", engine, gap, catalog->version);
  return g_strdup_printf(_("%s%s%s, level %u: %s"), engine, gap, catalog->version,
                         catalog->probe_level, td_knowledge_level_name(catalog->probe_level));
}

char *
td_facts_engine_text(TdDocument *document) {
  const td_catalog *catalog = td_document_get_whole(document);
  const char *plan = td_catalog_setting_find(catalog, TD_PREDICTION_SETTING);
  char *engine = recorded_engine(catalog);
  if (!*plan) return engine;
  char *text = g_strdup_printf(_("predicted: %s · %s"), plan, engine);
  g_free(engine);
  return text;
}

static void
add_recording(TdFactList *facts) {
  const td_tape_info *info = td_document_get_info(facts->document);
  const td_catalog *catalog = facts->whole;
  facts->section = _("Recording");
  if (*catalog->source) td_fact_list_add(facts, _("Script"), g_path_get_basename(catalog->source));
  if (*catalog->engine) td_fact_list_add(facts, _("Engine"), td_facts_engine_text(facts->document));
  td_fact_list_add(facts, _("Recorded"), started_text(info));
  td_fact_list_add(facts, _("Duration"), td_format_ns(info->duration_ns));
  td_fact_list_add_count(facts, _("Events"), info->n_events);
  td_fact_list_add(facts, _("Size"), td_format_bytes(info->file_bytes));
}

static guint64
count_left_out(const td_catalog *catalog) {
  guint64 n = 0;
  for (uint32_t i = 0; i < catalog->n_left_out; i++)
    n += catalog->left_out[i].n_passes;
  return n;
}

static void
add_graph(TdFactList *facts) {
  td_fact_list_add_count(facts, _("Nodes"), facts->catalog->n_nodes);
  td_fact_list_add_count(facts, _("Edges"), facts->catalog->n_edges);
}

static void
add_segment(TdFactList *facts) {
  TdSegment segment = td_document_get_segment(facts->document);
  if (!td_document_is_cut(facts->document)) return;
  g_autofree char *first = td_format_count(segment.first);
  g_autofree char *last = td_format_count(segment.end - 1);
  facts->section = _("What is shown");
  td_fact_list_add(facts, _("Segment"), g_strdup_printf(_("%u of %u"), segment.number, segment.n));
  td_fact_list_add(facts, _("Events"), g_strdup_printf(_("%s to %s"), first, last));
  td_fact_list_add_count(facts, _("Backward passes"), facts->catalog->n_graph_tasks);
  add_graph(facts);
}

static void
add_contents(TdFactList *facts) {
  const td_catalog *catalog = facts->whole;
  guint64 n_left_out = count_left_out(catalog);
  size_t n_problems;
  td_document_get_problems(facts->document, &n_problems);
  facts->section = _("What is on it");
  td_fact_list_add_count(facts, _("Backward passes"), catalog->n_graph_tasks);
  if (n_left_out) td_fact_list_add_count(facts, _("Passes left out"), n_left_out);
  if (!td_document_is_cut(facts->document)) add_graph(facts);
  td_fact_list_add_count(facts, _("Threads"), catalog->n_threads);
  td_fact_list_add_count(facts, _("Ready queues"), catalog->n_queues);
  if (catalog->n_devices) td_fact_list_add(facts, _("Devices"), devices_text(catalog));
  td_fact_list_add_count(facts, _("Problems"), n_problems);
}

static void
add_list(TdFactList *facts, const char *title, td_knowledge how) {
  char *kinds = td_knowledge_list(td_document_get_info(facts->document), how);
  g_auto(GStrv) names = g_strsplit(kinds, ", ", -1);
  g_autofree char *lines = g_strjoinv("\n", names);
  guint n = g_strv_length(names);
  g_autofree char *count = td_format_count(n);
  if (*kinds)
    td_fact_list_add_more(
        facts, title, g_strdup_printf(ngettext("%s kind of event", "%s kinds of events", n), count),
        lines);
  free(kinds);
}

static void
add_knowledge(TdFactList *facts) {
  const td_catalog *catalog = facts->whole;
  if (catalog->probe_level == 0) return;
  facts->section = _("How it is known");
  td_fact_list_add(facts, _("Level"),
                   g_strdup_printf("%u, %s", catalog->probe_level,
                                   td_knowledge_level_name(catalog->probe_level)));
  if (*catalog->probe_reason) td_fact_list_add(facts, _("Reason"), g_strdup(catalog->probe_reason));
  add_list(facts, _("Seen"), TD_knowledge_observed);
  add_list(facts, _("Reconstructed"), TD_knowledge_reconstructed);
  add_list(facts, _("Cannot be seen"), TD_knowledge_absent);
}

static void
add_settings(TdFactList *facts) {
  facts->section = _("Settings");
  for (uint32_t i = 0; i < facts->whole->n_settings; i++)
    td_fact_list_add(facts, facts->whole->settings[i].name,
                     g_strdup(facts->whole->settings[i].value));
}

static void
add_processes(TdFactList *facts) {
  const td_catalog *catalog = facts->whole;
  if (catalog->n_processes < 2) return;
  facts->section = _("Processes");
  for (uint32_t i = 0; i < catalog->n_processes; i++) {
    char *label = td_catalog_process_label(catalog, i);
    const td_catalog_process *process = &catalog->processes[i];
    td_fact_list_add(facts, label,
                     process->pid ? g_strdup_printf(_("%s, pid %u"), process->name, process->pid)
                                  : g_strdup(process->name));
    free(label);
  }
}

char *
td_facts_dup_kinds(TdDocument *document, td_knowledge how) {
  const td_tape_info *info = td_document_get_info(document);
  GString *lines = g_string_new(NULL);
  for (uint32_t kind = TD_EVENT_known + 1; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    if (!type || info->known[kind] != how) continue;
    g_string_append_printf(lines, "%s%s: %s", lines->len ? "\n" : "", type->name, type->summary);
  }
  return g_string_free(lines, FALSE);
}

GListModel *
td_facts_of_tape(TdDocument *document) {
  TdFactList facts = td_fact_list_new(document);
  add_recording(&facts);
  add_contents(&facts);
  add_segment(&facts);
  add_settings(&facts);
  add_knowledge(&facts);
  add_processes(&facts);
  return G_LIST_MODEL(facts.store);
}
