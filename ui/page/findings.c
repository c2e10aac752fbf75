/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/findings.h"

#include "ui/page/facts.h"

static void
write_finding(const td_finding *finding, td_json *json) {
  td_json_begin_object(json);
  td_page_member(json, "kind", td_finding_kind_name(finding->kind));
  td_page_member(json, "title", td_finding_kind_title(finding->kind));
  td_json_key(json, "seq");
  td_json_u64(json, finding->seq);
  td_json_key(json, "n");
  td_json_u64(json, finding->n);
  td_page_member(json, "text", finding->text);
  td_page_member(json, "advice", finding->advice);
  td_page_member(json, "line", finding->line);
  td_json_end_object(json);
}

void
td_page_findings_write(const td_findings *findings, td_json *json) {
  td_json_begin_object(json);
  td_json_key(json, "left_out");
  td_json_u64(json, findings->n_left_out);
  td_json_key(json, "items");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < findings->n; i++)
    write_finding(&findings->items[i], json);
  td_json_end_array(json);
  td_json_end_object(json);
}
