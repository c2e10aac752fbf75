/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/finding.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/knowledge.h"
#include "engine/profile/source_place.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *title;
  td_event_kind needs;
} kinds[TD_N_FINDING_KINDS] = {
#define TD_FINDING(name, needs, title) [TD_FINDING_##name] = {#name, title, TD_EVENT_##needs},
#include "engine/profile/findings/finding.def"
#undef TD_FINDING
};

const char *
td_finding_kind_name(td_finding_kind kind) {
  return kinds[kind].name;
}

const char *
td_finding_kind_title(td_finding_kind kind) {
  return kinds[kind].title;
}

char *
td_finding_line(const td_catalog_node *facts) {
  char *place = facts && facts->stack ? td_source_place(facts->stack) : NULL;
  return place ? td_line_make(place, TD_NAME_SHOWN) : NULL;
}

char *
td_finding_dup_pass(const td_finding *finding) {
  if (finding->graph_task == TD_NONE) return NULL;
  if (!finding->pass) return td_format(td_translate("graph task %u"), finding->graph_task);
  return td_format(td_translate("backward pass %u (graph task %u)"), finding->pass,
                   finding->graph_task);
}

void
td_findings_add(td_findings *findings, td_finding finding) {
  TD_GROW(findings->items, findings->n, findings->capacity);
  findings->items[findings->n++] = finding;
}

/* A tape with holes breaks rules everywhere. */
static bool
is_for_rules(const td_tape_info *info) {
  return !info->damage && !info->n_dropped && info->n_events <= TD_RULES_EVENTS;
}

/* Older tapes, and those of other sources, have no such events. */
static bool
is_for_looks(td_event_kind needs) {
  return needs == TD_EVENT_leaf_look || needs == TD_EVENT_optimizes;
}

/* Processes give their optimizers the same numbers, and their parameters the same names. One waits
 * for its own GIL, whatever passes of another one are under way. */
static bool
is_of_one_process(td_finding_kind kind) {
  return kind == TD_FINDING_never_cleared || kind == TD_FINDING_stale_node ||
         kind == TD_FINDING_other_parameters || kind == TD_FINDING_gradient_lost ||
         kind == TD_FINDING_unowned || kind == TD_FINDING_cleared_early ||
         kind == TD_FINDING_frozen_step || kind == TD_FINDING_gil_kept;
}

bool
td_findings_look_at_leaves(const td_catalog *catalog) {
  return strcmp(td_catalog_setting_find(catalog, "leaves"), "looked") == 0;
}

/* Older tapes of the same kind have the setting "leaves" alone. */
bool
td_findings_look_at_roots(const td_catalog *catalog) {
  return strcmp(td_catalog_setting_find(catalog, "roots"), "looked") == 0;
}

bool
td_findings_look_at_ends(const td_catalog *catalog) {
  return strcmp(td_catalog_setting_find(catalog, "ends"), "looked") == 0;
}

static bool
is_for_ends(td_event_kind needs) {
  return needs == TD_EVENT_program_failed || needs == TD_EVENT_optimizer_idle ||
         needs == TD_EVENT_step_empty || needs == TD_EVENT_frozen_step;
}

bool
td_finding_is_judged(const td_tape_info *info, const td_catalog *catalog, td_finding_kind kind) {
  if (is_for_looks(kinds[kind].needs) && !td_findings_look_at_leaves(catalog)) return false;
  if (is_for_ends(kinds[kind].needs) && !td_findings_look_at_ends(catalog)) return false;
  bool needs_roots = kinds[kind].needs == TD_EVENT_root_look ||
                     kinds[kind].needs == TD_EVENT_gradient_written ||
                     kinds[kind].needs == TD_EVENT_gradient_missing ||
                     kinds[kind].needs == TD_EVENT_graphs_unreached;
  if (needs_roots && !td_findings_look_at_roots(catalog)) return false;
  if (is_of_one_process(kind) && catalog->n_processes > 1) return false;
  bool needs_all = kind == TD_FINDING_rule_broken || kind == TD_FINDING_order_surprise;
  if (needs_all && !is_for_rules(info)) return false;
  return !td_knowledge_absence(info, catalog->probe_level, kinds[kind].needs);
}

static int
compare(const void *a, const void *b) {
  const td_finding *left = a, *right = b;
  if (left->kind != right->kind) return left->kind < right->kind ? -1 : 1;
  return left->seq < right->seq ? -1 : left->seq > right->seq;
}

static void
fini(td_finding *finding) {
  free(finding->text);
  free(finding->advice);
  free(finding->line);
  free(finding->source);
}

void
td_findings_finish(td_findings *findings) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < findings->n; i++)
    if (findings->unjudged[findings->items[i].kind])
      fini(&findings->items[i]);
    else
      findings->items[n++] = findings->items[i];
  findings->n = n;
  if (n) qsort(findings->items, n, sizeof(td_finding), compare);
}

void
td_findings_fini(td_findings *findings) {
  for (uint32_t i = 0; i < findings->n; i++)
    fini(&findings->items[i]);
  free(findings->items);
  *findings = (td_findings){0};
}

static bool
has_nonfinite(const td_findings *findings) {
  for (uint32_t i = 0; i < findings->n; i++)
    if (findings->items[i].kind == TD_FINDING_nonfinite) return true;
  return false;
}

/* Of an older tape or a trace, only what was found shows that somebody looked. */
const char *
td_findings_search_note(const td_findings *findings) {
  const char *looked_for = findings->looked_for;
  if (strcmp(looked_for, "nonfinite") == 0) return "";
  if (strcmp(looked_for, "nan") == 0)
    return TD_N("The recording looked for NaN, not for Inf: --anomaly nonfinite does both.");
  if (has_nonfinite(findings)) return "";
  if (!findings->unjudged[TD_FINDING_loss_nonfinite])
    return TD_N(
        "The recording looked for NaN and Inf in losses and in what parameters store, and not "
        "for where they are born: tapedeck record --anomaly nonfinite does.");
  if (!findings->unjudged[TD_FINDING_nonfinite_stored])
    return TD_N("The recording looked for NaN and Inf in what parameters store, and not for where "
                "they are born: tapedeck record --anomaly nonfinite does.");
  if (!*looked_for && !findings->unjudged[TD_FINDING_nonfinite])
    return TD_N("The tape does not say whether the recording looked for NaN and Inf.");
  return TD_N("The recording did not look for NaN and Inf: --anomaly nonfinite does.");
}
