/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/passes.h"

#include <glib.h>

/* Of a span, on both sides. */
#define SPAN_MARGIN 0.04

static bool
is_begun(const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = &catalog->graph_tasks[graph_task];
  return facts->begin_seq > 0 || facts->root != TD_NONE || facts->owner != TD_NONE;
}

bool
td_pass_is_of(const td_catalog *catalog, uint32_t graph_task, uint32_t process) {
  return is_begun(catalog, graph_task) &&
         (catalog->n_processes < 2 || td_catalog_process_of_task(catalog, graph_task) == process);
}

uint32_t
td_pass_at(td_replay *replay, uint32_t process, uint64_t position) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_catalog_graph_task *tasks = catalog->graph_tasks;
  uint32_t last = TD_NONE, running = TD_NONE, first = TD_NONE;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    uint64_t begin = tasks[i].begin_seq;
    if (!td_pass_is_of(catalog, i, process)) continue;
    if (first == TD_NONE || begin < tasks[first].begin_seq) first = i;
    if (begin >= position) continue;
    if (last == TD_NONE || begin > tasks[last].begin_seq) last = i;
    bool runs = tasks[i].end_seq >= position && tasks[i].end_seq < td_replay_length(replay);
    if (runs && (running == TD_NONE || begin > tasks[running].begin_seq)) running = i;
  }
  bool unended = last != TD_NONE && tasks[last].end_seq >= td_replay_length(replay);
  if (running != TD_NONE && !unended) return running;
  return last != TD_NONE ? last : first;
}

uint32_t
td_pass_number(const td_catalog *catalog, uint32_t process, uint32_t graph_task, uint32_t *n) {
  uint64_t begin =
      graph_task < catalog->n_graph_tasks ? catalog->graph_tasks[graph_task].begin_seq : 0;
  uint32_t number = 0;
  *n = 0;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    if (!td_pass_is_of(catalog, i, process)) continue;
    ++*n;
    number += catalog->graph_tasks[i].begin_seq <= begin;
  }
  return number;
}

uint64_t
td_pass_first_position(td_replay *replay) {
  uint32_t first = td_pass_at(replay, 0, 0);
  if (first == TD_NONE) return 0;
  uint64_t position = td_replay_catalog(replay)->graph_tasks[first].begin_seq + 1;
  return MIN(position, td_replay_length(replay));
}

static uint64_t
time_of(td_replay *replay, uint64_t seq) {
  td_any_event event;
  return td_replay_event(replay, seq, &event, NULL) == TD_OK ? event.event.time : 0;
}

static void
set_span(td_replay *replay, uint64_t first, uint64_t last, double *from_ns, double *to_ns) {
  uint64_t length = td_replay_length(replay);
  *from_ns = first < length ? (double)time_of(replay, first) : 0;
  *to_ns = first < last && last < length
               ? (double)time_of(replay, last)
               : (double)td_tape_info_get(td_replay_tape(replay))->duration_ns;
  double margin = (*to_ns - *from_ns) * SPAN_MARGIN;
  *from_ns -= margin;
  *to_ns += margin;
}

void
td_pass_span(td_replay *replay, uint32_t graph_task, double *from_ns, double *to_ns) {
  const td_catalog_graph_task *task = &td_replay_catalog(replay)->graph_tasks[graph_task];
  set_span(replay, task->begin_seq, task->end_seq, from_ns, to_ns);
}

void
td_pass_span_of_all(td_replay *replay, double *from_ns, double *to_ns) {
  const td_catalog *catalog = td_replay_catalog(replay);
  uint64_t first = UINT64_MAX, last = 0;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    if (!is_begun(catalog, i)) continue;
    first = MIN(first, catalog->graph_tasks[i].begin_seq);
    last = MAX(last, catalog->graph_tasks[i].end_seq);
  }
  set_span(replay, first, last, from_ns, to_ns);
}
