/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/diff_report.h"
#include "app/print/sentences.h"
#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/why/describe.h"
#include "engine/profile/why/why.h"
#include "engine/replay/catalog_collect.h"
#include "ui/geometry/format.h"

#include <stdio.h>
#include <stdlib.h>

#define MARGIN 12

/* A line of the page: the heading on its first line, nothing on the next. */
static void
begin_line(const char *heading) {
  printf("%-*s ", MARGIN, heading);
}

static void
print_rest(uint64_t n) {
  if (n <= TD_DIFF_SHOWN) return;
  begin_line("");
  printf("... %llu more; --json lists all\n", (unsigned long long)(n - TD_DIFF_SHOWN));
}

static void
print_tape(const char *letter, td_tape *tape, const td_diff_tape *facts) {
  char *what = td_line_make(td_format("%s: %s on %s%s%s", td_tape_path(tape), facts->source,
                                      facts->engine, *facts->version ? " " : "", facts->version),
                            TD_TEXT_SHOWN);
  char *nodes = td_format_many(facts->n_nodes, "node", "nodes");
  char *passes = td_format_many(facts->n_tasks, "graph task", "graph tasks");
  begin_line(letter);
  printf("%s, %s in %s\n", what, nodes, passes);
  free(what);
  free(nodes);
  free(passes);
}

static char *
dup_node(const td_visited_node *node) {
  td_catalog_node facts = {.id = node->node,
                           .name = node->name,
                           .label = node->label,
                           .module = node->module,
                           .module_class = node->module_class};
  return td_why_name_node_of(&facts);
}

static void
print_node_and_task(const td_visited_node *node) {
  char *name = dup_node(node), *pass = td_format("%u", node->graph_task);
  if (node->graph_task == TD_NONE)
    fputs(name, stdout);
  else
    td_printed_print(TD_PRINTED_node_of_pass, {"node", name}, {"pass", pass});
  free(name);
  free(pass);
}

static void
print_order(const td_diff *diff) {
  begin_line("order");
  if (diff->equal_order) {
    printf("the same, node by node\n");
    return;
  }
  char *n = td_format("%u", diff->n_pairs - diff->n_equal_pairs);
  char *passes = td_format_many(diff->n_pairs, "graph task", "graph tasks");
  char *moved =
      td_format_many(diff->n_moved, "node runs at another place", "nodes run at another place");
  td_printed_print(diff->n_moved ? TD_PRINTED_order_differs_moved : TD_PRINTED_order_differs,
                   {"n", n}, {"passes", passes}, {"moved", moved});
  putchar('\n');
  free(n);
  free(passes);
  free(moved);
  if (diff->a.n_tasks == diff->b.n_tasks) return;
  char *of_a = td_format_many(diff->a.n_tasks, "graph task", "graph tasks");
  begin_line("");
  printf("A has %s, B has %u\n", of_a, diff->b.n_tasks);
  free(of_a);
}

static void
print_side(const char *letter, const td_divergence_side *side) {
  begin_line("");
  printf("%s: ", letter);
  if (!side->has_node) {
    printf("no node left\n");
    return;
  }
  if (side->why) {
    printf("event %llu, %s\n", (unsigned long long)side->node.at, side->why);
    return;
  }
  char *name = dup_node(&side->node);
  printf("%s at event %llu\n", name, (unsigned long long)side->node.at);
  free(name);
}

static void
print_divergence(const td_divergence *divergence) {
  const td_divergence_side *a = &divergence->a, *b = &divergence->b;
  begin_line("first");
  printf("graph task %u of A, %u of B, place %u on %s\n", a->graph_task, b->graph_task,
         divergence->position, divergence->device_label);
  print_side("A", a);
  print_side("B", b);
  begin_line("cause");
  printf("%s\n", divergence->text);
}

static void
print_lone_nodes(const char *heading, const td_top_list *nodes) {
  const td_visited_node *items = nodes->items;
  if (nodes->n_added == 0) return;
  char *n = td_format_many(nodes->n_added, "node", "nodes");
  begin_line(heading);
  puts(n);
  free(n);
  for (size_t i = 0; i < nodes->n; i++) {
    begin_line("");
    print_node_and_task(&items[i]);
    putchar('\n');
  }
  print_rest(nodes->n_added);
}

static void
print_reshaped(const td_diff *diff) {
  if (diff->n_reshaped == 0) return;
  char *text =
      td_format_many(diff->n_reshaped, "node expects gradients of another shape or dtype in B",
                     "nodes expect gradients of another shape or dtype in B");
  begin_line("shapes");
  puts(text);
  free(text);
}

static void
print_names(const td_comparison *comparison) {
  for (uint32_t i = 0; i < comparison->n_names && i < TD_DIFF_SHOWN; i++) {
    const td_compared_name *name = &comparison->names[i];
    char *a = td_line_dup(name->a, TD_NAME_SHOWN);
    char *b = td_line_dup(name->b, TD_NAME_SHOWN);
    char *nodes = td_format_many(name->count, "node", "nodes");
    begin_line(i ? "" : "names");
    printf("%s is %s in B (%s)\n", a, b, nodes);
    free(a);
    free(b);
    free(nodes);
  }
  print_rest(comparison->n_names);
}

static void
print_value(const td_compared_value *value) {
  begin_line("");
  print_node_and_task(&value->a);
  if (value->anomaly)
    printf(": %s is born here (%s) only in %s\n", value->anomaly, value->place,
           value->event_b == UINT64_MAX ? "A" : "B");
  else
    printf(": %s of %s %u is %.9g in A, %.9g in B\n", value->field, value->place, value->number,
           value->number_a, value->number_b);
}

/* ---- births of values that are not finite ---- */

static uint64_t
count_births(const td_tape *tape) {
  return td_tape_info_get(tape)->n_by_kind[TD_EVENT_anomaly];
}

/* UINT64_MAX if the tape cannot be read so far. */
static uint64_t
find_birth(td_tape *tape) {
  td_segment whole = td_tape_whole(tape);
  uint64_t found = UINT64_MAX;
  td_tape_begin_pass(tape, &whole);
  for (uint64_t seq = 0; seq < whole.end && found == UINT64_MAX; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (event && event->event.kind == TD_EVENT_anomaly) found = seq;
  }
  td_tape_end_pass(tape);
  return found;
}

/* In words, or NULL. The caller frees. */
static char *
describe_birth(td_tape *tape, uint64_t seq) {
  td_any_event event;
  td_catalog *catalog;
  td_segment segment = td_tape_segment_at(tape, seq);
  if (td_tape_get(tape, seq, &event, NULL) != TD_OK ||
      td_catalog_collect(tape, &segment, &catalog, NULL) != TD_OK)
    return NULL;
  char *text = td_why_describe(catalog, tape, &event);
  td_catalog_free(catalog);
  return text;
}

/* A gradient that differs may come from a value of the forward pass, of which values of nodes tell
 * nothing. So the first birth is named where one side alone has births. */
static void
print_lone_births(const td_diff_report *report) {
  uint64_t n_a = count_births(report->tape_a), n_b = count_births(report->tape_b);
  if (!n_a == !n_b) return;
  td_tape *tape = n_a ? report->tape_a : report->tape_b;
  uint64_t seq = find_birth(tape);
  char *what = seq == UINT64_MAX ? NULL : describe_birth(tape, seq);
  if (!what) return;
  begin_line("not finite");
  printf("only in %s, first at event %llu: %s\n", n_a ? "A" : "B", (unsigned long long)seq, what);
  free(what);
}

static void
print_values(const td_compared_values *values) {
  const td_compared_value *items = values->list.items;
  uint64_t n = values->list.n_added;
  begin_line("values");
  if (values->n_compared == 0) {
    printf("none are on both tapes: record both with --stats full\n");
    return;
  }
  char *compared = td_format_many(values->n_compared, "value", "values");
  printf("%s compared, %llu %s (tolerance %g)\n", compared, (unsigned long long)n,
         n == 1 ? "differs" : "differ", values->tolerance);
  free(compared);
  for (size_t i = 0; i < values->list.n; i++)
    print_value(&items[i]);
  print_rest(n);
}

static char *
dup_times(uint64_t a_ns, uint64_t b_ns) {
  char *a = td_format_ns((double)a_ns), *b = td_format_ns((double)b_ns);
  char *text = a_ns ? td_format("A %s, B %s (x %.2f)", a, b, (double)b_ns / (double)a_ns)
                    : td_format("A %s, B %s", a, b);
  free(a);
  free(b);
  return text;
}

static void
print_durations(const td_comparison *comparison) {
  const td_top_list *durations = &comparison->durations;
  const td_compared_duration *items = durations->items;
  begin_line("durations");
  if (durations->n == 0) {
    printf("none are on both tapes\n");
    return;
  }
  char *times = dup_times(comparison->a_ns, comparison->b_ns);
  char *nodes = td_format_many(durations->n_added, "node", "nodes");
  printf("%s in the functions of %s; those that differ most:\n", times, nodes);
  free(times);
  free(nodes);
  for (size_t i = 0; i < durations->n && i < TD_DIFF_SHOWN; i++) {
    char *each = dup_times(items[i].a_ns, items[i].b_ns);
    begin_line("");
    print_node_and_task(&items[i].a);
    printf(": %s\n", each);
    free(each);
  }
}

void
td_diff_print_text(const td_diff_report *report) {
  const td_diff *diff = &report->diff;
  print_tape("A", report->tape_a, &diff->a);
  print_tape("B", report->tape_b, &diff->b);
  print_order(diff);
  if (diff->diverges) print_divergence(&diff->divergence);
  print_lone_nodes("only in A", &diff->a.lone_nodes);
  print_lone_nodes("only in B", &diff->b.lone_nodes);
  print_reshaped(diff);
  print_names(&diff->comparison);
  print_lone_births(report);
  print_values(&diff->comparison.values);
  if (!report->without_durations) print_durations(&diff->comparison);
}
