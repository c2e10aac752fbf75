/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/diff_side.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"

#include <string.h>

/* ---- windows ---- */

static void
widen(td_diff_side *side, const td_diff_task *task) {
  td_segment begins = td_tape_segment_at(side->tape, task->first);
  td_segment ends = td_tape_segment_at(side->tape, task->last);
  if (ends.number > begins.number) side->goes_on[begins.number] = true;
  if (ends.number > begins.number + 1) side->is_whole = true;
}

static td_status
find_windows(td_diff_side *side, td_error *error) {
  uint32_t n = td_tape_n_segments(side->tape);
  side->is_whole = n == 0;
  side->goes_on = td_try_alloc(n, sizeof *side->goes_on);
  if (!side->goes_on) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for its segments");
  for (uint32_t i = 0; i < side->tasks.n && !side->is_whole; i++)
    widen(side, &side->tasks.items[i]);
  return TD_OK;
}

uint32_t
td_diff_side_window(const td_diff_side *side, const td_diff_task *task) {
  return side->is_whole ? 0 : td_tape_segment_at(side->tape, task->first).number;
}

/* The window that begins in the segment of an event. */
static td_segment
window_at(const td_diff_side *side, uint64_t seq) {
  td_segment window = td_tape_segment_at(side->tape, seq);
  if (side->is_whole) return td_tape_whole(side->tape);
  if (side->goes_on[window.number]) window.end = td_tape_segment_at(side->tape, window.end).end;
  return window;
}

/* ---- loading ---- */

static uint32_t *
nothing(uint32_t n) {
  uint32_t *ids = td_try_alloc(n, sizeof *ids);
  if (ids) memset(ids, 0xff, n * sizeof *ids);
  return ids;
}

static void
unload(td_diff_side *side) {
  td_visits_fini(&side->visits);
  free(side->partners);
  free(side->places);
  side->partners = side->places = NULL;
}

static td_status
make_room(td_diff_side *side, td_error *error) {
  side->visits.has_edges = side->tasks.has_edges;
  side->visits.has_shapes = side->tasks.has_shapes;
  side->partners = nothing(side->visits.n);
  side->places = nothing(side->visits.catalog->n_nodes);
  if (side->partners && side->places) return TD_OK;
  return td_error_set(error, TD_OUT_OF_MEMORY, "no memory to align it");
}

static td_status
load_at(td_diff_side *side, uint64_t seq, td_error *error) {
  td_segment window = window_at(side, seq);
  uint32_t number = side->is_whole ? 0 : window.number;
  if (side->visits.catalog && side->window == number) return TD_OK;
  unload(side);
  side->window = number;
  td_status status = td_visits_collect(side->tape, &window, &side->visits, error);
  if (status == TD_DAMAGED && !side->is_whole) {
    td_error_clear(error);
    side->is_whole = true;
    side->window = 0;
    window = td_tape_whole(side->tape);
    status = td_visits_collect(side->tape, &window, &side->visits, error);
  }
  if (!status) status = make_room(side, error);
  if (status) unload(side);
  return status;
}

static td_status
name_tape(td_diff_side *side, td_status status, td_error *error) {
  if (status) td_error_prefix(error, "%s: ", td_tape_path(side->tape));
  return status;
}

td_status
td_diff_side_load(td_diff_side *side, const td_diff_task *task, td_error *error) {
  return name_tape(side, load_at(side, task->first, error), error);
}

td_status
td_diff_side_open(td_diff_side *side, td_tape *tape, td_error *error) {
  *side = (td_diff_side){.tape = tape};
  td_status status = td_diff_tasks_list(tape, &side->tasks, error);
  if (!status) status = find_windows(side, error);
  if (!status) status = load_at(side, 0, error);
  return name_tape(side, status, error);
}

void
td_diff_side_fini(td_diff_side *side) {
  if (side->tape) unload(side);
  td_diff_tasks_fini(&side->tasks);
  free(side->goes_on);
  *side = (td_diff_side){0};
}

/* ---- hashes ---- */

static uint64_t
hash_task(const td_visits *visits, uint32_t graph_task) {
  td_visit_task task = td_visits_task(visits, graph_task);
  uint64_t hash = TD_HASH_SEED;
  for (uint32_t i = 0; i < task.n; i++) {
    uint64_t name = visits->likeness.operations[visits->visits[task.first + i].row];
    hash = td_hash_bytes(hash, &name, sizeof name);
  }
  return td_hash_bytes(hash, &task.n, sizeof task.n);
}

td_status
td_diff_side_hash(td_diff_side *side, td_error *error) {
  td_status status = TD_OK;
  for (uint32_t i = 0; i < side->tasks.n && !status; i++) {
    td_diff_task *task = &side->tasks.items[i];
    status = td_diff_side_load(side, task, error);
    if (!status) task->hash = hash_task(&side->visits, task->graph_task);
  }
  return status;
}
