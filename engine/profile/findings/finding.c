/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/finding.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
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

bool
td_finding_is_judged(const td_tape_info *info, uint32_t level, td_finding_kind kind) {
  bool needs_all = kind == TD_FINDING_rule_broken || kind == TD_FINDING_order_surprise;
  if (needs_all && !is_for_rules(info)) return false;
  return !td_knowledge_absence(info, level, kinds[kind].needs);
}

static int
compare(const void *a, const void *b) {
  const td_finding *left = a, *right = b;
  if (left->kind != right->kind) return left->kind < right->kind ? -1 : 1;
  return left->seq < right->seq ? -1 : left->seq > right->seq;
}

void
td_findings_sort(td_findings *findings) {
  if (findings->n) qsort(findings->items, findings->n, sizeof(td_finding), compare);
}

void
td_findings_fini(td_findings *findings) {
  for (uint32_t i = 0; i < findings->n; i++) {
    free(findings->items[i].text);
    free(findings->items[i].advice);
    free(findings->items[i].line);
  }
  free(findings->items);
  *findings = (td_findings){0};
}

static bool
has_nonfinite(const td_findings *findings) {
  return findings->n && findings->items[0].kind == TD_FINDING_nonfinite; /* the first kind */
}

/* Of an older tape or a trace, only what was found shows that somebody looked. */
const char *
td_findings_search_note(const td_findings *findings) {
  const char *looked_for = findings->looked_for;
  if (strcmp(looked_for, "nonfinite") == 0) return "";
  if (strcmp(looked_for, "nan") == 0)
    return "The recording looked for NaN, not for Inf: --anomaly nonfinite does both.";
  if (has_nonfinite(findings)) return "";
  if (!*looked_for && !findings->unjudged[TD_FINDING_nonfinite])
    return "The tape does not say whether the recording looked for NaN and Inf.";
  return "The recording did not look for NaN and Inf: --anomaly nonfinite does.";
}
