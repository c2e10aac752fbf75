/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/info_steps.h"

#include "app/json_members.h"
#include "engine/base/line.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>

/* `info` lists so many runs of steps for people. */
#define RUNS_SHOWN 4

/* Steps without a gap. */
typedef struct run {
  uint32_t first, last;
} run;

static uint32_t
process_of(const td_catalog *catalog, uint32_t thread) {
  return thread < catalog->n_threads ? catalog->threads[thread].process : 0;
}

/* The steps of a process that are on the tape. Free it. */
static GArray *
list_runs(const td_catalog *catalog, uint32_t process) {
  GArray *runs = g_array_new(FALSE, FALSE, sizeof(run));
  for (uint32_t i = 0; i < catalog->n_steps; i++) {
    const td_catalog_step *step = &catalog->steps[i];
    if (process_of(catalog, step->thread) != process) continue;
    run *last = runs->len ? &g_array_index(runs, run, runs->len - 1) : NULL;
    if (last && last->last + 1 == step->iteration)
      last->last++;
    else
      g_array_append_val(runs, ((run){step->iteration, step->iteration}));
  }
  return runs;
}

/* What a process left out. Free it. */
static GPtrArray *
list_left_out(const td_catalog *catalog, uint32_t process) {
  GPtrArray *found = g_ptr_array_new();
  for (uint32_t i = 0; i < catalog->n_left_out; i++)
    if (process_of(catalog, catalog->left_out[i].thread) == process)
      g_ptr_array_add(found, &catalog->left_out[i]);
  return found;
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
    g_string_append_printf(words, " and %u more; --json lists all", runs->len - RUNS_SHOWN);
  return g_string_free(words, FALSE);
}

static void
add_left_out(GString *words, const td_catalog_left_out *left) {
  uint32_t last = left->first + (left->n_steps ? left->n_steps - 1 : 0);
  g_string_append_printf(words, "%u pass%s of step%s ", left->n_passes,
                         left->n_passes == 1 ? "" : "es", last > left->first ? "s" : "");
  add_run(words, (run){left->first, last});
}

/* The parts, or if they are many, their sum. */
static char *
left_out_words(const GPtrArray *left_out) {
  GString *words = g_string_new(NULL);
  uint64_t n_passes = 0, n_steps = 0;
  for (guint i = 0; i < left_out->len; i++) {
    const td_catalog_left_out *left = left_out->pdata[i];
    n_passes += left->n_passes;
    n_steps += left->n_steps;
    if (left_out->len > RUNS_SHOWN) continue;
    if (i > 0) g_string_append(words, ", ");
    add_left_out(words, left);
  }
  if (left_out->len > RUNS_SHOWN)
    g_string_append_printf(words, "%" PRIu64 " passes of %" PRIu64 " steps", n_passes, n_steps);
  const td_catalog_left_out *first = left_out->pdata[0];
  g_string_append_printf(words, ": %s", first->chosen);
  return td_line_make(g_string_free(words, FALSE), TD_TEXT_SHOWN);
}

static void
print_process(const td_catalog *catalog, uint32_t process) {
  g_autoptr(GArray) runs = list_runs(catalog, process);
  g_autoptr(GPtrArray) left_out = list_left_out(catalog, process);
  g_autofree char *steps = runs_words(runs);
  g_autofree char *label =
      catalog->n_processes > 1 ? td_catalog_process_label(catalog, process) : NULL;
  const char *colon = label ? ": " : "";
  if (runs->len) printf("%-12s %s%s%s\n", "steps", label ? label : "", colon, steps);
  if (!left_out->len) return;
  g_autofree char *left = left_out_words(left_out);
  printf("%-12s %s%s%s\n", "left out", label ? label : "", colon, left);
}

void
td_info_print_steps(const td_catalog *catalog) {
  for (uint32_t process = 0; process < catalog->n_processes; process++)
    print_process(catalog, process);
}

static void
print_process_json(td_json *json, uint32_t process, const GArray *runs, const GPtrArray *left_out) {
  td_json_begin_object(json);
  td_member_u64(json, "process", process);
  td_json_key(json, "recorded");
  td_json_begin_array(json);
  for (guint i = 0; i < runs->len; i++) {
    td_json_begin_array(json);
    td_json_u64(json, g_array_index(runs, run, i).first);
    td_json_u64(json, g_array_index(runs, run, i).last);
    td_json_end_array(json);
  }
  td_json_end_array(json);
  const td_catalog_left_out *first = left_out->len ? left_out->pdata[0] : NULL;
  td_member_string(json, "chosen", first ? first->chosen : NULL);
  td_json_key(json, "left_out");
  td_json_begin_array(json);
  for (guint i = 0; i < left_out->len; i++) {
    const td_catalog_left_out *left = left_out->pdata[i];
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
  for (uint32_t process = 0; process < catalog->n_processes; process++) {
    g_autoptr(GArray) runs = list_runs(catalog, process);
    g_autoptr(GPtrArray) left_out = list_left_out(catalog, process);
    if (runs->len || left_out->len) print_process_json(json, process, runs, left_out);
  }
  td_json_end_array(json);
}
