/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/align.h"

#include "engine/base/alloc.h"
#include "engine/profile/diff/pairing.h"
#include "engine/profile/diff/sequence.h"

#include <stdlib.h>

/* Order */

/* A visit with its lane, so that numbers sort by lane, then in the order of the visits. */
static uint64_t
with_lane(const td_visits *visits, uint32_t visit) {
  uint64_t lane = (uint32_t)visits->visits[visit].lane ^ 1u << 31; /* negative ones first */
  return lane << 32 | visit;
}

static uint32_t
visit_of(uint64_t lane_and_visit) {
  return (uint32_t)lane_and_visit;
}

static uint32_t
lane_of(uint64_t lane_and_visit) {
  return (uint32_t)(lane_and_visit >> 32);
}

static int
compare_numbers(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* The visits of a task, lane by lane. The caller frees; NULL without memory. */
static uint64_t *
sort_by_lane(const td_visits *visits, const td_visit_task *task) {
  uint64_t *sorted = td_try_alloc(task->n, sizeof *sorted);
  bool in_order = true;
  for (uint32_t i = 0; sorted && i < task->n; i++) {
    sorted[i] = with_lane(visits, task->first + i);
    in_order &= i == 0 || sorted[i - 1] < sorted[i];
  }
  if (!in_order) qsort(sorted, task->n, sizeof *sorted, compare_numbers);
  return sorted;
}

/* The visits of one lane in both tasks of a pair, and scratch memory for as many places. */
typedef struct lane {
  const uint64_t *a, *b; /* (borrowed) with_lane */
  uint32_t *places;      /* (owned) */
  uint32_t n_a, n_b;
} lane;

/* The place of a lane's first difference, or TD_NONE. */
static uint32_t
first_difference(const td_align *align, const lane *lane) {
  uint32_t n = TD_MIN(lane->n_a, lane->n_b);
  for (uint32_t i = 0; i < n; i++)
    if (align->partners_a[visit_of(lane->a[i])] != visit_of(lane->b[i])) return i;
  return lane->n_a == lane->n_b ? TD_NONE : n;
}

static td_status
count_moved(td_align *align, const lane *lane) {
  uint32_t n = 0, n_kept;
  for (uint32_t i = 0; i < lane->n_a; i++) {
    uint32_t visit = visit_of(lane->a[i]), partner = align->partners_a[visit];
    if (partner == TD_NONE) continue;
    if (align->b->visits[partner].lane == align->a->visits[visit].lane)
      lane->places[n++] = partner;
    else
      align->n_moved++;
  }
  td_status status = td_sequence_rising(lane->places, n, &n_kept);
  if (status == TD_OK) align->n_moved += n - n_kept;
  return status;
}

/* Which of two divergences of a pair comes first on tape a, or on b where a has no more. */
static bool
is_earlier(const td_align *align, const td_align_divergence *new, const td_align_divergence *old) {
  if (new->a != TD_NONE && old->a != TD_NONE)
    return align->a->visits[new->a].at < align->a->visits[old->a].at;
  if (new->b != TD_NONE && old->b != TD_NONE)
    return align->b->visits[new->b].at < align->b->visits[old->b].at;
  return new->a != TD_NONE;
}

static void
note_divergence(td_align *align, const td_align_divergence *found) {
  if (align->equal || is_earlier(align, found, &align->divergence)) align->divergence = *found;
  align->equal = false;
}

static td_status
compare_lane(td_align *align, const lane *lane) {
  uint32_t at = first_difference(align, lane);
  if (at == TD_NONE) return TD_OK;
  uint32_t a = at < lane->n_a ? visit_of(lane->a[at]) : TD_NONE;
  uint32_t b = at < lane->n_b ? visit_of(lane->b[at]) : TD_NONE;
  int32_t device = a == TD_NONE ? align->b->visits[b].lane : align->a->visits[a].lane;
  note_divergence(align, &(td_align_divergence){.lane = device, .position = at, .a = a, .b = b});
  return count_moved(align, lane);
}

/* How many of these visits lie on the lane. */
static uint32_t
length_of_lane(const uint64_t *visits, uint32_t n, uint32_t lane) {
  uint32_t length = 0;
  while (length < n && lane_of(visits[length]) == lane)
    length++;
  return length;
}

static td_status
compare_lanes(td_align *align, lane *lane) {
  uint32_t n_a = align->task_a.n, n_b = align->task_b.n;
  td_status status = TD_OK;
  while ((n_a || n_b) && status == TD_OK) {
    uint32_t in_a = n_a ? lane_of(*lane->a) : UINT32_MAX;
    uint32_t in_b = n_b ? lane_of(*lane->b) : UINT32_MAX;
    lane->n_a = length_of_lane(lane->a, n_a, TD_MIN(in_a, in_b));
    lane->n_b = length_of_lane(lane->b, n_b, TD_MIN(in_a, in_b));
    status = compare_lane(align, lane);
    lane->a += lane->n_a;
    lane->b += lane->n_b;
    n_a -= lane->n_a;
    n_b -= lane->n_b;
  }
  return status;
}

static td_status
compare_order(td_align *align) {
  uint64_t *a = sort_by_lane(align->a, &align->task_a), *b = sort_by_lane(align->b, &align->task_b);
  lane lane = {.a = a, .b = b, .places = td_try_alloc(align->task_a.n, sizeof *lane.places)};
  td_status status = a && b && lane.places ? compare_lanes(align, &lane) : TD_OUT_OF_MEMORY;
  free(a);
  free(b);
  free(lane.places);
  return status;
}

/* All of it */

static bool
is_reshaped(const td_align *align, uint32_t visit_a, uint32_t visit_b) {
  uint64_t a = align->a->likeness.shapes[align->a->visits[visit_a].row];
  uint64_t b = align->b->likeness.shapes[align->b->visits[visit_b].row];
  return a && b && a != b;
}

static void
count(td_align *align) {
  for (uint32_t i = 0; i < align->task_a.n; i++) {
    uint32_t visit = align->task_a.first + i, partner = align->partners_a[visit];
    if (partner == TD_NONE) continue;
    align->n_paired++;
    align->n_reshaped += is_reshaped(align, visit, partner);
  }
}

td_status
td_align_passes(td_diff_side *a, uint32_t graph_task_a, td_diff_side *b, uint32_t graph_task_b,
                td_align *align) {
  *align = (td_align){.a = &a->visits,
                      .b = &b->visits,
                      .task_a = td_visits_task(&a->visits, graph_task_a),
                      .task_b = td_visits_task(&b->visits, graph_task_b),
                      .partners_a = a->partners,
                      .partners_b = b->partners,
                      .equal = true};
  td_status status = td_pairing_find(align->a, &align->task_a, align->b, &align->task_b,
                                     a->partners, b->partners, a->places, b->places);
  if (status == TD_OK) status = compare_order(align);
  if (status == TD_OK) count(align);
  return status;
}
