/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts/facts_origin.h"

#include "ui/geometry/format.h"
#include "ui/model/base/dotted.h"
#include "ui/model/base/source_line.h"

#include <glib/gi18n.h>
#include <math.h>

#define MAX_STATS_LISTED 32

static char *
place_text(const TdSourceLine *line) {
  g_autofree char *name = g_path_get_basename(line->file);
  return *line->function ? g_strdup_printf(_("%s:%u in %s"), name, line->line, line->function)
                         : g_strdup_printf("%s:%u", name, line->line);
}

/* The whole stack, innermost first, as one can copy it into an editor. */
static char *
stack_text(GPtrArray *lines, const char *stack) {
  if (lines->len == 0) return g_strdup(stack);
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < lines->len; i++) {
    const TdSourceLine *line = lines->pdata[i];
    g_string_append_printf(text, "%s%s:%u %s", i ? "\n" : "", line->file, line->line,
                           line->function);
  }
  return g_string_free(text, FALSE);
}

static void
add_stack(TdFactList *facts, const char *stack) {
  g_autoptr(GPtrArray) lines = td_source_lines_parse(stack);
  const TdSourceLine *own = td_source_lines_find_own(lines);
  g_autofree char *whole = stack_text(lines, stack);
  td_fact_list_add_more(facts, _("Line"), own ? place_text(own) : g_strdup(stack),
                        lines->len > 1 ? whole : NULL);
  char *source = own ? td_source_line_dup_text(own) : NULL;
  if (source) td_fact_list_add(facts, _("Source"), source);
}

void
td_facts_add_origin(TdFactList *facts, uint32_t node) {
  const td_catalog_node *known = td_catalog_node_get(facts->catalog, node);
  facts->section = _("Made by the forward pass");
  char *module = td_catalog_module_label(facts->catalog, node);
  if (module) td_fact_list_add(facts, _("Module"), module);
  if (known->stack && *known->stack) add_stack(facts, known->stack);
}

static const char *const places[TD_stats_place_LIMIT] = {
    [TD_stats_place_input] = N_("Input"),
    [TD_stats_place_output] = N_("Output"),
    [TD_stats_place_leaf] = N_("Gradient"),
};

static void
append_bad(GString *text, uint64_t n, const char *what) {
  if (n == 0) return;
  g_autofree char *count = td_format_count(n);
  td_dotted_take(text, g_strdup_printf("%s %s", count, what));
}

/* Where only finiteness was looked at, there is no norm. */
static char *
stats_text(const td_event_tensor_stats *stats) {
  GString *text = g_string_new(NULL);
  g_autofree char *count = td_format_count(stats->n_elements);
  if (!isnan(stats->l2))
    g_string_append_printf(text, _("%.4g to %.4g, mean %.4g, norm %.4g\n"), stats->min, stats->max,
                           stats->mean, stats->l2);
  g_string_append_printf(
      text, g_dngettext(NULL, "%s element", "%s elements", (gulong)stats->n_elements), count);
  append_bad(text, stats->n_nan, "NaN");
  append_bad(text, stats->n_inf, "Inf");
  if (!stats->n_nan && !stats->n_inf) td_dotted_add(text, _("all finite"));
  return g_string_free(text, FALSE);
}

/* Is there a later one of the same place before the playhead? */
static gboolean
is_outdated(const td_event_tensor_stats *stats, const td_event_tensor_stats *later, guint n) {
  for (guint i = 0; i < n; i++)
    if (later[i].place == stats->place && later[i].number == stats->number) return TRUE;
  return FALSE;
}

void
td_facts_add_numbers(TdFactList *facts, uint32_t node) {
  uint32_t n, n_shown = 0;
  const td_catalog_mention *mentions =
      td_catalog_mentions_of(facts->catalog, TD_LIST_stats, node, &n);
  td_event_tensor_stats shown[MAX_STATS_LISTED];
  td_any_event event;
  for (uint32_t i = n; i-- > 0 && n_shown < MAX_STATS_LISTED;) { /* newest first */
    if (mentions[i].seq >= facts->state->header->seq) continue;
    td_replay *replay = td_document_get_replay(facts->document);
    if (td_replay_event(replay, mentions[i].seq, &event, NULL) != TD_OK) continue;
    if (!is_outdated(&event.tensor_stats, shown, n_shown)) shown[n_shown++] = event.tensor_stats;
  }
  facts->section = _("Numbers");
  for (uint32_t i = n_shown; i-- > 0;) {
    const char *place = shown[i].place < TD_stats_place_LIMIT ? _(places[shown[i].place]) : "";
    g_autofree char *title = g_strdup_printf("%s %u", place, shown[i].number);
    td_fact_list_add(facts, title, stats_text(&shown[i]));
  }
}
