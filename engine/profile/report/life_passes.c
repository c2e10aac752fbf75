/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/life_passes.h"

#include "engine/base/alloc.h"

uint32_t
td_life_passes_find(td_life_passes *passes, uint32_t graph_task) {
  if (passes->found && passes->found_for == graph_task) return passes->found - 1;
  const uint64_t *number = td_number_map_find(&passes->numbers, graph_task);
  passes->found_for = graph_task;
  passes->found = number ? (uint32_t)*number : 0;
  return passes->found ? passes->found - 1 : TD_NONE;
}

static void
set(td_life_passes *passes, uint32_t graph_task, uint64_t number) {
  passes->found = 0;
  *td_number_map_put(&passes->numbers, graph_task) = number;
}

void
td_life_passes_begin(td_life_passes *passes, uint32_t graph_task, uint64_t now) {
  TD_GROW(passes->items, passes->n, passes->capacity);
  passes->items[passes->n++] =
      (td_life_pass){.graph_task = graph_task, .begin_ns = now, .idle_since = now};
  passes->n_under_way++;
  set(passes, graph_task, passes->n);
}

void
td_life_passes_nest(td_life_passes *passes, uint32_t graph_task, uint32_t outer, uint64_t now) {
  uint32_t around = td_life_passes_find(passes, outer);
  if (around == TD_NONE) return td_life_passes_begin(passes, graph_task, now);
  set(passes, graph_task, 1 + (uint64_t)around);
}

void
td_life_passes_end(td_life_passes *passes, uint32_t graph_task, uint64_t now) {
  uint32_t number = td_life_passes_find(passes, graph_task);
  if (number == TD_NONE) return;
  td_life_pass *pass = &passes->items[number];
  if (pass->graph_task != graph_task || pass->has_ended) return;
  pass->has_ended = true;
  pass->end_ns = now;
  passes->n_under_way--;
}

void
td_life_passes_work(td_life_passes *passes, uint32_t number, uint64_t now) {
  td_life_pass *pass = &passes->items[number];
  td_life_passes_turn(passes, number, now);
  if (pass->n_busy++ == 0) pass->busy_since = now;
}

void
td_life_passes_rest(td_life_passes *passes, uint32_t number, uint64_t now) {
  td_life_pass *pass = &passes->items[number];
  uint64_t end = pass->has_ended ? TD_MIN(now, pass->end_ns) : now;
  td_life_passes_turn(passes, number, now);
  if (--pass->n_busy) return;
  if (end > pass->busy_since) pass->busy_ns += end - pass->busy_since;
  pass->idle_since = end;
}

/* Passes end late in the list. */
static td_life_pass *
find_only(td_life_passes *passes) {
  if (passes->n_under_way != 1) return NULL;
  uint32_t at = passes->n - 1;
  while (at && passes->items[at].has_ended)
    at--;
  return &passes->items[at];
}

void
td_life_passes_record(td_life_passes *passes, uint64_t begin, uint64_t now) {
  td_life_pass *pass = find_only(passes);
  if (!pass || pass->n_busy) return;
  uint64_t since = TD_MAX(begin, pass->idle_since);
  if (since >= now) return;
  pass->recorder_ns += now - since;
  pass->idle_since = now;
}

void
td_life_passes_fini(td_life_passes *passes) {
  free(passes->items);
  td_number_map_fini(&passes->numbers);
  *passes = (td_life_passes){0};
}
