/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/report_sums.h"

#include "engine/base/alloc.h"

#include <string.h>

static bool
is_waiting(int part) {
  return part == TD_LIFE_dependency_wait || part == TD_LIFE_queue_wait;
}

/* Of equally long calls, the first counts. */
static bool
is_longer(const td_report_row *row, uint64_t max, uint64_t begin_seq) {
  if (!row->n || max != row->max) return max > row->max;
  return begin_seq < row->longest.begin_seq;
}

void
td_report_row_add(td_report_row *row, const td_report_row *other) {
  if (!row->n || (other->n && is_longer(row, other->max, other->longest.begin_seq))) {
    row->longest = other->longest;
    row->max = other->max;
  }
  row->n += other->n;
  row->self += other->self;
  row->of_wall += other->of_wall;
  row->total += other->total;
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    row->parts[part] += other->parts[part];
}

static void
add_life(td_report_row *row, const td_life *life, uint32_t n_calls) {
  uint64_t ns = life->parts[TD_LIFE_apply];
  if (!row->n || (n_calls && is_longer(row, ns, life->begin_seq))) {
    row->longest = (td_report_call){life->node, life->begin_seq, life->begin_ns, life->end_ns};
    row->max = n_calls ? ns : 0;
  }
  row->n += n_calls;
  row->self += ns;
  row->of_wall += life->shares[TD_LIFE_apply];
  for (int part = 0; part < TD_N_LIFE_PARTS; part++) {
    row->parts[part] += life->parts[part];
    if (!is_waiting(part)) row->total += life->parts[part];
  }
}

static uint32_t
find(td_report_sums *self, uint64_t number, const td_life *life) {
  uint64_t *place = td_number_map_put(&self->of_number, number);
  if (*place) return (uint32_t)*place;
  TD_GROW(self->sums, self->n, self->capacity);
  self->sums[self->n] = (td_report_sum){.number = number,
                                        .node = life->node,
                                        .thread = life->thread,
                                        .queue = life->queue,
                                        .pass = life->pass};
  *place = ++self->n;
  return self->n;
}

uint32_t
td_report_sums_add(td_report_sums *self, uint64_t number, const td_life *life, uint32_t n_calls) {
  uint32_t *recent = &self->recent[(number ^ number >> 6) % TD_REPORT_SUMS_RECENT];
  if (!*recent || self->sums[*recent - 1].number != number) *recent = find(self, number, life);
  add_life(&self->sums[*recent - 1].row, life, n_calls);
  return *recent - 1;
}

void
td_report_sums_clear(td_report_sums *self) {
  memset(self->recent, 0, sizeof self->recent);
  td_number_map_fini(&self->of_number);
  self->n = 0;
}

void
td_report_sums_fini(td_report_sums *self) {
  free(self->sums);
  td_number_map_fini(&self->of_number);
  *self = (td_report_sums){0};
}
