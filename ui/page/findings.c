/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/findings.h"

static void
member(td_json *json, const char *key, const char *text) {
  if (!text || !*text) return;
  td_json_key(json, key);
  td_json_string(json, text);
}

static void
write_finding(const td_finding *finding, td_json *json) {
  td_json_begin_object(json);
  member(json, "kind", td_finding_kind_name(finding->kind));
  member(json, "title", td_finding_kind_title(finding->kind));
  td_json_key(json, "seq");
  td_json_u64(json, finding->seq);
  td_json_key(json, "n");
  td_json_u64(json, finding->n);
  member(json, "text", finding->text);
  member(json, "advice", finding->advice);
  member(json, "line", finding->line);
  td_json_end_object(json);
}

/* Kinds that the tape cannot tell of. The note is about NaN and Inf. */
static void
write_unjudged(const td_findings *findings, td_json *json) {
  td_json_key(json, "unjudged");
  td_json_begin_array(json);
  for (td_finding_kind kind = TD_FINDING_nonfinite + 1; kind < TD_N_FINDING_KINDS; kind++)
    if (findings->unjudged[kind]) td_json_string(json, td_finding_kind_title(kind));
  td_json_end_array(json);
}

void
td_page_findings_write(const td_findings *findings, td_json *json) {
  td_json_begin_object(json);
  member(json, "note", td_findings_search_note(findings));
  write_unjudged(findings, json);
  td_json_key(json, "left_out");
  td_json_u64(json, findings->n_left_out);
  td_json_key(json, "items");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < findings->n; i++)
    write_finding(&findings->items[i], json);
  td_json_end_array(json);
  td_json_end_object(json);
}
