/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/info_summary.h"

#include "app/command.h"
#include "app/json_members.h"
#include "engine/base/line.h"
#include "engine/profile/source_place.h"
#include "engine/profile/why/causes.h"
#include "engine/profile/why/why.h"
#include "engine/replay/catalog_collect.h"
#include "ui/geometry/format.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN 5        /* for people, of each list */
#define SHOWN_JSON 100 /* in JSON */

static void
print_time(const td_summary *summary, uint64_t ns) {
  char *time = td_format_ns((double)ns);
  double share = summary->total_ns ? 100.0 * (double)ns / (double)summary->total_ns : 0;
  printf("%s, %.0f %%", time, share);
  free(time);
}

static void
print_nodes(const td_catalog *catalog, const td_summary *summary) {
  for (uint32_t i = 0; i < MIN(summary->n_nodes, SHOWN); i++) {
    char *name = td_why_name_node_whole(catalog, summary->nodes[i].node);
    printf("%-12s %s: ", i ? "" : "slow nodes", name);
    print_time(summary, summary->nodes[i].ns);
    putchar('\n');
    free(name);
  }
}

static void
print_modules(const td_catalog *catalog, const td_summary *summary) {
  for (uint32_t i = 0; i < MIN(summary->n_modules, SHOWN); i++) {
    const td_summary_module *item = &summary->modules[i];
    char *label = td_catalog_module_label(catalog, item->node);
    if (!label) label = td_line_dup(item->module, TD_NAME_SHOWN);
    printf("%-12s %s: ", i ? "" : "slow modules", label);
    free(label);
    print_time(summary, item->ns);
    g_autofree char *nodes = td_format_many(item->n_nodes, "node", "nodes");
    printf(" in %s\n", nodes);
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

/* The next anomaly among the problems from *i on; false after the last. */
static bool
next_anomaly(td_tape *tape, const td_catalog *catalog, uint32_t *i, uint64_t *seq,
             td_any_event *event) {
  const td_catalog_mentions *problems = &catalog->mentions[TD_LIST_problems];
  while (*i < problems->n) {
    const td_catalog_mention *item = &problems->items[(*i)++];
    *seq = item->seq;
    if (item->kind == TD_EVENT_anomaly && td_tape_get(tape, item->seq, event, NULL) == TD_OK)
      return true;
  }
  return false;
}

/* A catalog that knows the nodes of an event: of a tape that is cut, that of its segment. */
typedef struct nodes_of_tape {
  td_tape *tape;
  const td_catalog *catalog; /* of the tape or its outline */
  td_catalog *segment;       /* (owned) or NULL; the whole tape if a keyframe is damaged */
} nodes_of_tape;

static bool
has_node_of(const td_catalog *catalog, const td_segment *segment) {
  if (!catalog) return false;
  uint32_t number = catalog->segment.number;
  return number == segment->number || number == TD_SEGMENT_WHOLE;
}

/* An outline has no graph, so it cannot say what may have led to an anomaly. */
static bool
is_outline_enough(const nodes_of_tape *self, const td_segment *segment, uint64_t seq,
                  const td_event_anomaly *anomaly) {
  return td_catalog_declares(self->catalog, &anomaly->event) &&
         !td_cause_is_possible(self->catalog, self->tape, segment->first, seq, anomaly);
}

/* Falls back on the outline, which names few nodes. */
static const td_catalog *
catalog_for(nodes_of_tape *self, uint64_t seq, const td_event_anomaly *anomaly) {
  td_segment segment = td_tape_segment_at(self->tape, seq);
  if (has_node_of(self->catalog, &segment)) return self->catalog;
  if (is_outline_enough(self, &segment, seq, anomaly)) return self->catalog;
  if (has_node_of(self->segment, &segment)) return self->segment;
  td_catalog_free(self->segment);
  self->segment = NULL;
  td_error error = {0};
  td_status status = td_catalog_collect(self->tape, &segment, &self->segment, &error);
  if (status == TD_DAMAGED) {
    td_command_say_whole(td_tape_path(self->tape), &error);
    status = td_catalog_collect_whole(self->tape, &self->segment, &error);
  }
  if (status) td_error_clear(&error);
  return self->segment ? self->segment : self->catalog;
}

static bool
find_cause(const td_catalog *catalog, td_tape *tape, uint64_t seq, const td_event_anomaly *anomaly,
           uint64_t *cause) {
  return !td_info_is_outline(catalog) && td_cause_find(catalog, tape, seq, anomaly, cause);
}

static void
print_anomaly(nodes_of_tape *self, uint64_t seq, const td_any_event *event) {
  const td_catalog *catalog = catalog_for(self, seq, &event->anomaly);
  char *text = td_why_describe(catalog, self->tape, event);
  uint64_t cause;
  printf("event %" PRIu64 ", %s", seq, text);
  if (find_cause(catalog, self->tape, seq, &event->anomaly, &cause))
    printf(" (event %" PRIu64 " may have led to it)", cause);
  putchar('\n');
  free(text);
}

void
td_info_print_anomalies(td_tape *tape, const td_catalog *catalog) {
  uint64_t n = td_tape_info_get(tape)->n_by_kind[TD_EVENT_anomaly], seq;
  nodes_of_tape nodes = {tape, catalog, NULL};
  td_any_event event;
  uint32_t at = 0;
  for (uint32_t i = 0; i < SHOWN && next_anomaly(tape, catalog, &at, &seq, &event); i++) {
    printf("%-12s ", i ? "" : "anomalies");
    print_anomaly(&nodes, seq, &event);
  }
  if (n > SHOWN)
    printf("%-12s ... %" PRIu64 " more; `tapedeck events --kind anomaly` lists all\n", "",
           n - SHOWN);
  td_catalog_free(nodes.segment);
}

/* Members of an open object that say what a node is. */
static void
write_node(td_json *json, const td_catalog *catalog, uint32_t node) {
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
    write_node(json, catalog, summary->nodes[i].node);
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

static void
write_anomaly(td_json *json, td_tape *tape, const td_catalog *catalog, uint64_t seq,
              const td_event_anomaly *anomaly) {
  uint64_t cause = 0;
  td_json_begin_object(json);
  td_member_u64(json, "seq", seq);
  td_member_string(json, "kind", td_enum_word(TD_FIELD_ENUM_anomaly_kind, anomaly->kind));
  td_member_string(json, "born", td_enum_word(TD_FIELD_ENUM_birthplace, anomaly->born));
  write_node(json, catalog, anomaly->node);
  bool has_cause = find_cause(catalog, tape, seq, anomaly, &cause);
  td_member_known(json, "cause", cause, has_cause);
  td_json_end_object(json);
}

void
td_info_summary_json(td_json *json, td_tape *tape, const td_catalog *catalog,
                     const td_summary *summary) {
  td_any_event event;
  uint64_t seq;
  uint32_t at = 0;
  nodes_of_tape nodes = {tape, catalog, NULL};
  if (td_info_is_outline(catalog))
    write_unknown(json);
  else
    write_slowest(json, catalog, summary);
  td_json_key(json, "anomalies");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < SHOWN_JSON && next_anomaly(tape, catalog, &at, &seq, &event); i++)
    write_anomaly(json, tape, catalog_for(&nodes, seq, &event.anomaly), seq, &event.anomaly);
  td_json_end_array(json);
  td_catalog_free(nodes.segment);
}
