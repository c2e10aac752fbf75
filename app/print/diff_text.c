/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/diff_report.h"
#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/why/why.h"
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
print_count(uint64_t count, const char *one, const char *many) {
  char *text = td_format_many(count, one, many);
  fputs(text, stdout);
  free(text);
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
  begin_line(letter);
  printf("%s, ", what);
  free(what);
  print_count(facts->n_nodes, "node", "nodes");
  printf(" in ");
  print_count(facts->n_tasks, "graph task", "graph tasks");
  putchar('\n');
}

static void
print_node(const td_visited_node *node) {
  td_catalog_node facts = {.id = node->node,
                           .name = node->name,
                           .label = node->label,
                           .module = node->module,
                           .module_class = node->module_class};
  char *name = td_why_name_node_of(&facts);
  fputs(name, stdout);
  free(name);
}

static void
print_node_and_task(const td_visited_node *node) {
  print_node(node);
  if (node->graph_task != TD_NONE) printf(" of graph task %u", node->graph_task);
}

static void
print_order(const td_diff *diff) {
  begin_line("order");
  if (diff->equal_order) {
    printf("the same, node by node\n");
    return;
  }
  printf("differs in %u of ", diff->n_pairs - diff->n_equal_pairs);
  print_count(diff->n_pairs, "graph task", "graph tasks");
  if (diff->n_moved) {
    printf("; ");
    print_count(diff->n_moved, "node runs at another place", "nodes run at another place");
  }
  putchar('\n');
  if (diff->a.n_tasks != diff->b.n_tasks) {
    begin_line("");
    printf("A has ");
    print_count(diff->a.n_tasks, "graph task", "graph tasks");
    printf(", B has %u\n", diff->b.n_tasks);
  }
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
  print_node(&side->node);
  printf(" at event %llu\n", (unsigned long long)side->node.at);
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
  begin_line(heading);
  print_count(nodes->n_added, "node", "nodes");
  putchar('\n');
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
  begin_line("shapes");
  print_count(diff->n_reshaped, "node expects", "nodes expect");
  printf(" gradients of another shape or dtype in B\n");
}

static void
print_names(const td_comparison *comparison) {
  for (uint32_t i = 0; i < comparison->n_names && i < TD_DIFF_SHOWN; i++) {
    const td_compared_name *name = &comparison->names[i];
    char *a = td_line_dup(name->a, TD_NAME_SHOWN);
    char *b = td_line_dup(name->b, TD_NAME_SHOWN);
    begin_line(i ? "" : "names");
    printf("%s is %s in B (", a, b);
    free(a);
    free(b);
    print_count(name->count, "node", "nodes");
    printf(")\n");
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

static void
print_values(const td_compared_values *values) {
  const td_compared_value *items = values->list.items;
  uint64_t n = values->list.n_added;
  begin_line("values");
  if (values->n_compared == 0) {
    printf("none are on both tapes\n");
    return;
  }
  print_count(values->n_compared, "value", "values");
  printf(" compared, %llu %s (tolerance %g)\n", (unsigned long long)n,
         n == 1 ? "differs" : "differ", values->tolerance);
  for (size_t i = 0; i < values->list.n; i++)
    print_value(&items[i]);
  print_rest(n);
}

static void
print_times(uint64_t a_ns, uint64_t b_ns) {
  char *a = td_format_ns((double)a_ns), *b = td_format_ns((double)b_ns);
  printf("A %s, B %s", a, b);
  if (a_ns) printf(" (x %.2f)", (double)b_ns / (double)a_ns);
  free(a);
  free(b);
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
  print_times(comparison->a_ns, comparison->b_ns);
  printf(" in the functions of ");
  print_count(durations->n_added, "node", "nodes");
  printf("; those that differ most:\n");
  for (size_t i = 0; i < durations->n && i < TD_DIFF_SHOWN; i++) {
    begin_line("");
    print_node_and_task(&items[i].a);
    printf(": ");
    print_times(items[i].a_ns, items[i].b_ns);
    putchar('\n');
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
  print_values(&diff->comparison.values);
  if (!report->without_durations) print_durations(&diff->comparison);
}
