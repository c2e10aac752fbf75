/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/info_summary.h"

#include "app/print/json_members.h"
#include "engine/base/line.h"
#include "engine/profile/source_place.h"
#include "engine/profile/why/why.h"
#include "ui/geometry/format.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN 5        /* for people, of each list */
#define SHOWN_JSON 100 /* in JSON */

static char *
dup_time(const td_summary *summary, uint64_t ns) {
  g_autofree char *time = td_format_ns((double)ns);
  double share = summary->total_ns ? 100.0 * (double)ns / (double)summary->total_ns : 0;
  return g_strdup_printf("%s, %.0f %%", time, share);
}

static void
print_nodes(const td_catalog *catalog, const td_summary *summary) {
  for (uint32_t i = 0; i < MIN(summary->n_nodes, SHOWN); i++) {
    g_autofree char *name = td_why_name_node_whole(catalog, summary->nodes[i].node);
    g_autofree char *time = dup_time(summary, summary->nodes[i].ns);
    printf("%-12s %s: %s\n", i ? "" : "slow nodes", name, time);
  }
}

static void
print_modules(const td_catalog *catalog, const td_summary *summary) {
  for (uint32_t i = 0; i < MIN(summary->n_modules, SHOWN); i++) {
    const td_summary_module *item = &summary->modules[i];
    g_autofree char *label = td_catalog_module_label(catalog, item->node);
    if (!label) label = td_line_dup(item->module, TD_NAME_SHOWN);
    g_autofree char *time = dup_time(summary, item->ns);
    g_autofree char *nodes = td_format_many(item->n_nodes, "node", "nodes");
    printf("%-12s %s: %s in %s\n", i ? "" : "slow modules", label, time, nodes);
  }
}

bool
td_info_is_outline(const td_catalog *catalog) {
  return catalog->segment.number == TD_SEGMENT_OUTLINE;
}

void
td_info_print_slowest(const td_catalog *catalog, const td_summary *summary) {
  if (td_info_is_outline(catalog)) {
    printf("%-12s `tapedeck info --slowest` finds them: it reads all events\n", "slow nodes");
    return;
  }
  print_nodes(catalog, summary);
  print_modules(catalog, summary);
}

void
td_info_node_json(td_json *json, const td_catalog *catalog, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  char *line = facts ? td_source_place_whole(facts->stack) : NULL;
  td_member_id(json, "node", node);
  td_member_string(json, "name", facts ? facts->name : NULL);
  td_member_string(json, "label", facts ? facts->label : NULL);
  td_member_string(json, "module", facts ? facts->module : NULL);
  td_member_string(json, "line", line);
  free(line);
}

static void
write_unknown(td_json *json) {
  td_json_key(json, "slowest_nodes");
  td_json_null(json);
  td_json_key(json, "slowest_modules");
  td_json_null(json);
}

static void
write_slowest(td_json *json, const td_catalog *catalog, const td_summary *summary) {
  td_json_key(json, "slowest_nodes");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < MIN(summary->n_nodes, SHOWN_JSON); i++) {
    td_json_begin_object(json);
    td_info_node_json(json, catalog, summary->nodes[i].node);
    td_member_u64(json, "ns", summary->nodes[i].ns);
    td_json_end_object(json);
  }
  td_json_end_array(json);
  td_json_key(json, "slowest_modules");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < MIN(summary->n_modules, SHOWN_JSON); i++) {
    td_json_begin_object(json);
    const td_summary_module *item = &summary->modules[i];
    td_member_string(json, "module", item->module);
    td_member_string(json, "class", td_catalog_node_get(catalog, item->node)->module_class);
    td_member_u64(json, "nodes", item->n_nodes);
    td_member_u64(json, "ns", item->ns);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

void
td_info_summary_json(td_json *json, const td_catalog *catalog, const td_summary *summary) {
  if (td_info_is_outline(catalog))
    write_unknown(json);
  else
    write_slowest(json, catalog, summary);
}
