/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/passes.h"

#include "engine/replay/steps.h"

#include <glib.h>

/* Of a span, on both sides. */
#define SPAN_MARGIN 0.04

static bool
is_begun(const td_catalog_graph_task *pass) {
  return pass->begin_seq > 0 || pass->root != TD_NONE || pass->owner != TD_NONE;
}

bool
td_pass_is_of(const td_catalog *catalog, const td_catalog_graph_task *pass, uint32_t process) {
  return is_begun(pass) &&
         (catalog->n_processes < 2 || td_catalog_process_of_task(catalog, pass->id) == process);
}

uint32_t
td_pass_at(const td_catalog *catalog, uint64_t length, uint32_t process, uint64_t position) {
  const td_catalog_graph_task *last = NULL, *running = NULL, *first = NULL;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    uint64_t begin = pass->begin_seq;
    if (!td_pass_is_of(catalog, pass, process)) continue;
    if (!first || begin < first->begin_seq) first = pass;
    if (begin >= position) continue;
    if (!last || begin > last->begin_seq) last = pass;
    bool runs = pass->end_seq >= position && pass->end_seq < length;
    if (runs && (!running || begin > running->begin_seq)) running = pass;
  }
  bool unended = last && last->end_seq >= length;
  const td_catalog_graph_task *found = last ? last : first;
  if (running && !unended) found = running;
  return found ? found->id : TD_NONE;
}

uint32_t
td_pass_number(const td_catalog *catalog, uint32_t process, uint32_t graph_task, uint32_t *n) {
  const td_catalog_graph_task *known = td_catalog_graph_task_find(catalog, graph_task);
  uint64_t begin = known ? known->begin_seq : 0;
  uint32_t number = 0;
  *n = 0;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (!td_pass_is_of(catalog, pass, process)) continue;
    ++*n;
    number += pass->begin_seq <= begin;
  }
  return number;
}

uint32_t
td_pass_outermost(const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  while (facts && facts->outer != TD_NONE) {
    graph_task = facts->outer;
    facts = td_catalog_graph_task_find(catalog, graph_task);
  }
  return graph_task;
}

static gint
compare_begins(gconstpointer a, gconstpointer b) {
  const td_catalog_graph_task *left = *(const td_catalog_graph_task *const *)a;
  const td_catalog_graph_task *right = *(const td_catalog_graph_task *const *)b;
  return (left->begin_seq > right->begin_seq) - (left->begin_seq < right->begin_seq);
}

uint32_t *
td_pass_list(const td_catalog *catalog, uint32_t process, uint32_t *n) {
  g_autoptr(GPtrArray) passes = g_ptr_array_new();
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++)
    if (td_pass_is_of(catalog, &catalog->graph_task_rows[i], process))
      g_ptr_array_add(passes, &catalog->graph_task_rows[i]);
  g_ptr_array_sort(passes, compare_begins);
  uint32_t *list = g_new(uint32_t, passes->len);
  for (guint i = 0; i < passes->len; i++)
    list[i] = ((const td_catalog_graph_task *)passes->pdata[i])->id;
  *n = passes->len;
  return list;
}

bool
td_pass_find_step(const td_catalog *catalog, uint32_t process, uint32_t graph_task,
                  uint32_t *step) {
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, graph_task);
  *step = TD_NONE;
  return pass && td_step_at(catalog, process, pass->begin_seq, step);
}

uint64_t
td_pass_first_position(const td_catalog *catalog, uint64_t length) {
  uint64_t first = UINT64_MAX;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (td_pass_is_of(catalog, pass, 0)) first = MIN(first, pass->begin_seq);
  }
  return first == UINT64_MAX ? 0 : MIN(first + 1, length);
}

static uint64_t
time_of(td_replay *replay, uint64_t seq) {
  td_any_event event;
  return td_replay_event(replay, seq, &event, NULL) == TD_OK ? event.event.time : 0;
}

/* Of a segment, that is where it ends. */
static double
end_of_all(td_replay *replay) {
  uint64_t length = td_replay_end(replay);
  const td_tape_info *info = td_tape_info_get(td_replay_tape(replay));
  return length < info->n_events ? (double)time_of(replay, length - 1) : (double)info->duration_ns;
}

static void
set_span(td_replay *replay, uint64_t first, uint64_t last, double *from_ns, double *to_ns) {
  uint64_t length = td_replay_end(replay);
  *from_ns = first < length ? (double)time_of(replay, first) : 0;
  *to_ns = first < last && last < length ? (double)time_of(replay, last) : end_of_all(replay);
  double margin = (*to_ns - *from_ns) * SPAN_MARGIN;
  *from_ns -= margin;
  *to_ns += margin;
}

void
td_pass_span(td_replay *replay, uint32_t graph_task, double *from_ns, double *to_ns) {
  const td_catalog_graph_task *task =
      td_catalog_graph_task_get(td_replay_catalog(replay), graph_task);
  set_span(replay, task->begin_seq, task->end_seq, from_ns, to_ns);
}

void
td_pass_span_of_all(td_replay *replay, double *from_ns, double *to_ns) {
  const td_catalog *catalog = td_replay_catalog(replay);
  uint64_t first = UINT64_MAX, last = 0;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    if (!is_begun(pass)) continue;
    first = MIN(first, pass->begin_seq);
    last = MAX(last, pass->end_seq);
  }
  set_span(replay, first, last, from_ns, to_ns);
}
