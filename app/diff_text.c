/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/diff_report.h"
#include "app/tape_at.h"
#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/why.h"
#include "ui/geometry/format.h"

#include <stdio.h>
#include <stdlib.h>

#define SHOWN_MAX 10 /* lines of one list */
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
print_rest(uint32_t n) {
  if (n <= SHOWN_MAX) return;
  begin_line("");
  printf("... %u more; --json lists all\n", n - SHOWN_MAX);
}

static void
print_tape(const char *letter, td_tape *tape, const td_visits *visits) {
  const td_catalog *catalog = visits->catalog;
  char *what =
      td_line_make(td_format("%s: %s on %s%s%s", td_tape_path(tape), catalog->source,
                             catalog->engine, *catalog->version ? " " : "", catalog->version),
                   TD_TEXT_SHOWN);
  begin_line(letter);
  printf("%s, ", what);
  free(what);
  print_count(visits->n, "node", "nodes");
  printf(" in ");
  print_count(visits->n_tasks, "graph task", "graph tasks");
  putchar('\n');
}

static void
print_node(const td_visits *visits, uint32_t visit) {
  char *name = td_why_name_node(visits->catalog, visits->visits[visit].node);
  fputs(name, stdout);
  free(name);
}

static void
print_task(const td_visits *visits, uint32_t visit) {
  uint32_t graph_task = visits->visits[visit].graph_task;
  if (graph_task != TD_NONE) printf(" of graph task %u", graph_task);
}

static void
print_order(const td_align *align) {
  uint32_t n_different = 0;
  for (uint32_t i = 0; i < align->n_pairs; i++)
    n_different += !align->pairs[i].equal;
  begin_line("order");
  if (align->equal_order) {
    printf("the same, node by node\n");
    return;
  }
  printf("differs in %u of ", n_different);
  print_count(align->n_pairs, "graph task", "graph tasks");
  if (align->n_moved) {
    printf("; ");
    print_count(align->n_moved, "node runs at another place", "nodes run at another place");
  }
  putchar('\n');
  if (align->a.n_tasks != align->b.n_tasks) {
    begin_line("");
    printf("A has ");
    print_count(align->a.n_tasks, "graph task", "graph tasks");
    printf(", B has %u\n", align->b.n_tasks);
  }
}

static void
print_side(const char *letter, const td_visits *visits, uint32_t visit,
           const td_divergence_side *side) {
  begin_line("");
  printf("%s: ", letter);
  if (visit == TD_NONE) {
    printf("no node left\n");
    return;
  }
  if (side->why) {
    printf("event %llu, %s\n", (unsigned long long)visits->visits[visit].at, side->why);
    return;
  }
  print_node(visits, visit);
  printf(" at event %llu\n", (unsigned long long)visits->visits[visit].at);
}

static void
print_divergence(const td_align *align, const td_divergence *divergence) {
  const td_align_divergence *at = &align->divergence;
  const td_align_pair *pair = &align->pairs[at->pair];
  const td_catalog *catalog = at->a == TD_NONE ? align->b.catalog : align->a.catalog;
  const char *device = td_catalog_device_label(catalog, at->lane);
  begin_line("first");
  printf("graph task %u of A, %u of B, place %u on %s\n", align->a.tasks[pair->task_a].graph_task,
         align->b.tasks[pair->task_b].graph_task, at->position, device);
  print_side("A", &align->a, at->a, &divergence->a);
  print_side("B", &align->b, at->b, &divergence->b);
  begin_line("cause");
  printf("%s\n", divergence->text);
}

static void
print_lone_nodes(const char *heading, const td_visits *visits, const uint32_t *partners,
                 uint32_t n) {
  if (n == 0) return;
  begin_line(heading);
  print_count(n, "node", "nodes");
  putchar('\n');
  for (uint32_t i = 0, shown = 0; i < visits->n && shown < SHOWN_MAX; i++) {
    if (partners[i] != TD_NONE) continue;
    begin_line("");
    print_node(visits, i);
    print_task(visits, i);
    putchar('\n');
    shown++;
  }
  print_rest(n);
}

static void
print_reshaped(const td_align *align) {
  if (align->n_reshaped == 0) return;
  begin_line("shapes");
  print_count(align->n_reshaped, "node expects", "nodes expect");
  printf(" gradients of another shape or dtype in B\n");
}

static void
print_names(const td_align_names *names) {
  for (uint32_t i = 0; i < names->n && i < SHOWN_MAX; i++) {
    char *a = td_line_dup(names->items[i].a, TD_NAME_SHOWN);
    char *b = td_line_dup(names->items[i].b, TD_NAME_SHOWN);
    begin_line(i ? "" : "names");
    printf("%s is %s in B (", a, b);
    free(a);
    free(b);
    print_count(names->items[i].count, "node", "nodes");
    printf(")\n");
  }
  print_rest(names->n);
}

static void
print_anomaly(const td_visits *visits, const char *letter, uint32_t value) {
  const td_event_anomaly *anomaly = &visits->values[value].anomaly;
  printf(": %s is born here (%s) only in %s\n",
         td_enum_word(TD_FIELD_ENUM_anomaly_kind, anomaly->kind),
         td_enum_word(TD_FIELD_ENUM_birthplace, anomaly->born), letter);
}

static void
print_value(const td_align *align, const td_align_value *item) {
  begin_line("");
  print_node(&align->a, item->visit_a);
  print_task(&align->a, item->visit_a);
  if (item->value_a == TD_NONE || item->value_b == TD_NONE) {
    bool in_a = item->value_a != TD_NONE;
    print_anomaly(in_a ? &align->a : &align->b, in_a ? "A" : "B",
                  in_a ? item->value_a : item->value_b);
    return;
  }
  const td_visit_value *value = &align->a.values[item->value_a];
  printf(": %s of %s %u is %.9g in A, %.9g in B\n", item->field,
         td_enum_word(TD_FIELD_ENUM_stats_place, value->place), value->number, item->a, item->b);
}

static void
print_values(const td_diff_report *report) {
  const td_align_values *values = &report->values;
  begin_line("values");
  if (values->n_compared == 0) {
    printf("none are on both tapes\n");
    return;
  }
  print_count(values->n_compared, "value", "values");
  printf(" compared, %u %s (tolerance %g)\n", values->n, values->n == 1 ? "differs" : "differ",
         report->tolerance);
  for (uint32_t i = 0; i < values->n && i < SHOWN_MAX; i++)
    print_value(&report->align, &values->items[i]);
  print_rest(values->n);
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
print_durations(const td_align *align, const td_align_durations *durations) {
  begin_line("durations");
  if (durations->n == 0) {
    printf("none are on both tapes\n");
    return;
  }
  print_times(durations->a_ns, durations->b_ns);
  printf(" in the functions of ");
  print_count(durations->n, "node", "nodes");
  printf("; those that differ most:\n");
  for (uint32_t i = 0; i < durations->n && i < SHOWN_MAX; i++) {
    uint32_t a = durations->visits[i], b = align->partners_a[a];
    begin_line("");
    print_node(&align->a, a);
    print_task(&align->a, a);
    printf(": ");
    print_times(td_visit_ns(&align->a.visits[a]), td_visit_ns(&align->b.visits[b]));
    putchar('\n');
  }
}

void
td_diff_print_text(const td_diff_report *report) {
  const td_align *align = &report->align;
  print_tape("A", report->tape_a, &align->a);
  print_tape("B", report->tape_b, &align->b);
  print_order(align);
  if (align->diverges) print_divergence(align, &report->divergence);
  print_lone_nodes("only in A", &align->a, align->partners_a, align->n_only_a);
  print_lone_nodes("only in B", &align->b, align->partners_b, align->n_only_b);
  print_reshaped(align);
  print_names(&report->names);
  print_values(report);
  print_durations(align, &report->durations);
}
