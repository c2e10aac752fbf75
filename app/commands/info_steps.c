/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/info_steps.h"

#include "app/print/json_members.h"
#include "app/print/sentences.h"
#include "engine/base/line.h"
#include "ui/geometry/format.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* `info` lists so many runs of steps for people. */
#define RUNS_SHOWN 4

/* So many choices left something out: one of --steps, --every and so on, and --keep. */
#define CHOICES_SHOWN 4

/* Steps without a gap. */
typedef struct run {
  uint32_t first, last;
} run;

static uint32_t
process_of(const td_catalog *catalog, uint32_t thread) {
  return thread < catalog->n_threads ? catalog->threads[thread].process : 0;
}

/* What a process recorded and left out. NULL: nothing. */
typedef struct steps_of_process {
  GArray *runs;        /* (owned) of run */
  GPtrArray *left_out; /* (owned) of td_catalog_left_out */
} steps_of_process;

static void
add_step(GArray *runs, uint32_t iteration) {
  run *last = runs->len ? &g_array_index(runs, run, runs->len - 1) : NULL;
  if (last && last->last + 1 == iteration)
    last->last++;
  else
    g_array_append_val(runs, ((run){iteration, iteration}));
}

/* By process. */
static steps_of_process *
list_steps(const td_catalog *catalog) {
  steps_of_process *all = g_new0(steps_of_process, catalog->n_processes);
  for (uint32_t i = 0; i < catalog->n_steps; i++) {
    steps_of_process *self = &all[process_of(catalog, catalog->steps[i].thread)];
    if (!self->runs) self->runs = g_array_new(FALSE, FALSE, sizeof(run));
    add_step(self->runs, catalog->steps[i].iteration);
  }
  for (uint32_t i = 0; i < catalog->n_left_out; i++) {
    steps_of_process *self = &all[process_of(catalog, catalog->left_out[i].thread)];
    if (!self->left_out) self->left_out = g_ptr_array_new();
    g_ptr_array_add(self->left_out, &catalog->left_out[i]);
  }
  return all;
}

static void
free_steps(steps_of_process *all, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    g_clear_pointer(&all[i].runs, g_array_unref);
    g_clear_pointer(&all[i].left_out, g_ptr_array_unref);
  }
  g_free(all);
}

static void
add_run(GString *words, run run) {
  g_string_append_printf(words, run.last > run.first ? "%u to %u" : "%u", run.first, run.last);
}

static char *
runs_words(const GArray *runs) {
  GString *words = g_string_new(NULL);
  for (guint i = 0; i < MIN(runs->len, RUNS_SHOWN); i++) {
    if (i > 0) g_string_append(words, ", ");
    add_run(words, g_array_index(runs, run, i));
  }
  if (runs->len > RUNS_SHOWN)
    g_string_append_printf(words, "; %u more in --json", runs->len - RUNS_SHOWN);
  return g_string_free(words, FALSE);
}

static char *
dup_left_out(const td_catalog_left_out *left, bool counts_steps) {
  uint32_t last_step = left->first + (left->n_steps ? left->n_steps - 1 : 0);
  char *passes = td_format_many(left->n_passes, "pass", "passes");
  if (!counts_steps && !left->n_steps) return passes;
  g_autofree char *first = g_strdup_printf("%u", left->first);
  g_autofree char *last = g_strdup_printf("%u", last_step);
  char *text = td_printed_dup(last_step > left->first ? TD_PRINTED_passes_of_steps
                                                      : TD_PRINTED_passes_of_step,
                              {"passes", passes}, {"first", first}, {"last", last});
  free(passes);
  return text;
}

static bool
is_named_before(const GPtrArray *left_out, guint i) {
  const td_catalog_left_out *left = left_out->pdata[i];
  for (guint k = 0; k < i; k++)
    if (!strcmp(((const td_catalog_left_out *)left_out->pdata[k])->chosen, left->chosen))
      return true;
  return false;
}

/* "--keep 5steps, --every 10" */
static char *
chosen_words(const GPtrArray *left_out) {
  GString *words = g_string_new(NULL);
  guint n_named = 0;
  for (guint i = 0; i < left_out->len && n_named < CHOICES_SHOWN; i++) {
    const td_catalog_left_out *left = left_out->pdata[i];
    if (is_named_before(left_out, i)) continue;
    g_string_append_printf(words, "%s%s", n_named++ ? ", " : "", left->chosen);
  }
  return g_string_free(words, FALSE);
}

static char *
list_left_out(const GPtrArray *left_out, bool counts_steps) {
  GString *list = g_string_new(NULL);
  for (guint i = 0; i < left_out->len; i++) {
    g_autofree char *item = dup_left_out(left_out->pdata[i], counts_steps);
    g_string_append_printf(list, "%s%s", i ? ", " : "", item);
  }
  g_autofree char *passes = g_string_free(list, FALSE), *options = chosen_words(left_out);
  return td_printed_dup(TD_PRINTED_left_out, {"passes", passes}, {"options", options});
}

static char *
sum_left_out(const GPtrArray *left_out) {
  uint64_t n_passes = 0, n_steps = 0;
  for (guint i = 0; i < left_out->len; i++) {
    const td_catalog_left_out *left = left_out->pdata[i];
    n_passes += left->n_passes;
    n_steps += left->n_steps;
  }
  g_autofree char *passes = td_format_many(n_passes, "pass", "passes");
  g_autofree char *steps = td_format_many(n_steps, "step", "steps");
  g_autofree char *options = chosen_words(left_out);
  return td_printed_dup(TD_PRINTED_left_out_sum, {"passes", passes}, {"steps", steps},
                        {"options", options});
}

/* What was left out, one by one, or if that is much, its sum. */
static char *
left_out_words(const GPtrArray *left_out, bool counts_steps) {
  return td_line_make(left_out->len > RUNS_SHOWN ? sum_left_out(left_out)
                                                 : list_left_out(left_out, counts_steps),
                      TD_TEXT_SHOWN);
}

static void
print_process(const td_catalog *catalog, uint32_t process, const steps_of_process *self) {
  g_autofree char *label =
      catalog->n_processes > 1 ? td_catalog_process_label(catalog, process) : NULL;
  const char *colon = label ? ": " : "";
  g_autofree char *steps = self->runs ? runs_words(self->runs) : NULL;
  g_autofree char *left = self->left_out ? left_out_words(self->left_out, self->runs) : NULL;
  if (steps) printf("%-12s %s%s%s\n", "steps", label ? label : "", colon, steps);
  if (left) printf("%-12s %s%s%s\n", "left out", label ? label : "", colon, left);
}

void
td_info_print_steps(const td_catalog *catalog) {
  steps_of_process *all = list_steps(catalog);
  for (uint32_t process = 0; process < catalog->n_processes; process++)
    print_process(catalog, process, &all[process]);
  free_steps(all, catalog->n_processes);
}

static void
print_process_json(td_json *json, uint32_t process, const steps_of_process *self) {
  guint n_runs = self->runs ? self->runs->len : 0;
  guint n_left_out = self->left_out ? self->left_out->len : 0;
  td_json_begin_object(json);
  td_member_u64(json, "process", process);
  td_json_key(json, "recorded");
  td_json_begin_array(json);
  for (guint i = 0; i < n_runs; i++) {
    td_json_begin_array(json);
    td_json_u64(json, g_array_index(self->runs, run, i).first);
    td_json_u64(json, g_array_index(self->runs, run, i).last);
    td_json_end_array(json);
  }
  td_json_end_array(json);
  g_autofree char *chosen = n_left_out ? chosen_words(self->left_out) : NULL;
  td_member_string(json, "chosen", chosen);
  td_json_key(json, "left_out");
  td_json_begin_array(json);
  for (guint i = 0; i < n_left_out; i++) {
    const td_catalog_left_out *left = self->left_out->pdata[i];
    td_json_begin_object(json);
    td_member_u64(json, "first", left->first);
    td_member_u64(json, "steps", left->n_steps);
    td_member_u64(json, "passes", left->n_passes);
    td_json_end_object(json);
  }
  td_json_end_array(json);
  td_json_end_object(json);
}

void
td_info_print_steps_json(td_json *json, const td_catalog *catalog) {
  td_json_key(json, "steps");
  td_json_begin_array(json);
  steps_of_process *all = list_steps(catalog);
  for (uint32_t process = 0; process < catalog->n_processes; process++)
    if (all[process].runs || all[process].left_out)
      print_process_json(json, process, &all[process]);
  free_steps(all, catalog->n_processes);
  td_json_end_array(json);
}
