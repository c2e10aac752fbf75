/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/cut_moments.h"

#include "engine/base/alloc.h"

#include <stdlib.h>

/* So many times the wanted length a segment waits for a quiet moment. */
#define PATIENCE 4

typedef struct td_calm_moment {
  uint64_t seq, n_under_way;
} td_calm_moment;

static void
change(uint64_t *n, int by) {
  if (by > 0 || *n) *n += (uint64_t)(int64_t)by;
}

static void
note_quiet(td_cut_moments *self, uint64_t seq) {
  TD_GROW(self->quiet, self->n_quiet, self->quiet_capacity);
  self->quiet[self->n_quiet++] = seq;
}

/* A node whose edges are still to come, or a pass whose outer pass is, is worse than many tasks:
 * the segment would not know them. */
#define DECLARING_WEIGHT (UINT64_C(1) << 20)

static void
note_calm(td_cut_moments *self, uint64_t seq) {
  td_calm_moment now = {seq, self->n_passes + self->n_tasks + self->n_declaring * DECLARING_WEIGHT};
  while (self->n_calm <= seq / self->least_events) {
    TD_GROW(self->calm, self->n_calm, self->calm_capacity);
    self->calm[self->n_calm++] = now;
  }
  td_calm_moment *known = &self->calm[self->n_calm - 1];
  if (now.n_under_way < known->n_under_way) *known = now;
}

/* Telling about a node takes a thread so many events of the tape, with those of others between. */
#define DECLARING_EVENTS 64

/* What the thread's next events say more about: something that lasts as long as a node, or a pass
 * in another one, which reentrant_enter names. */
static bool
is_half_told(const td_event *event) {
  if (event->kind == TD_EVENT_graph_task_begin)
    return ((const td_event_graph_task_begin *)event)->depth > 0;
  return td_event_type_get(event->kind)->lasts.how == TD_LASTS_node;
}

static void
note_declaring(td_cut_moments *self, const td_event *event, uint64_t seq) {
  bool is_now = is_half_told(event);
  if (!is_now && !self->n_declaring) return;
  uint64_t *since = td_number_map_put(&self->declaring, event->thread);
  self->n_declaring += is_now;
  self->n_declaring -= *since > 0;
  *since = is_now ? seq + 1 : 0;
}

static bool
others_declare(const td_cut_moments *self, uint32_t thread, uint64_t seq) {
  for (uint32_t i = 0; i < self->declaring.n; i++) {
    const td_number_entry *entry = &self->declaring.entries[i];
    if (entry->key != thread && entry->value && seq - entry->value < DECLARING_EVENTS) return true;
  }
  return false;
}

/* A segment begins with a pass, or in one. So at each of its moments, a pass is there to be shown.
 */
bool
td_cut_moments_take(td_cut_moments *self, const td_event *event, uint64_t seq) {
  bool begins = event->kind == TD_EVENT_graph_task_begin;
  bool is_quiet = begins && self->n_passes + self->n_tasks == 0;
  if (is_quiet && !others_declare(self, event->thread, seq)) note_quiet(self, seq);
  bool may_cut = begins || self->n_passes;
  if (self->n_passes) note_calm(self, seq);
  note_declaring(self, event, seq);
  change(&self->n_tasks, td_event_type_get(event->kind)->queue.change);
  if (begins) change(&self->n_passes, 1);
  if (event->kind == TD_EVENT_graph_task_end) change(&self->n_passes, -1);
  return may_cut;
}

static uint64_t
calmest(const td_cut_moments *self, uint64_t from, uint64_t to) {
  const td_calm_moment *best = NULL;
  for (size_t i = from / self->least_events; i < self->n_calm; i++) {
    const td_calm_moment *moment = &self->calm[i];
    if (moment->seq >= to) break;
    if (moment->seq < from) continue;
    if (!best || moment->n_under_way < best->n_under_way) best = moment;
  }
  return best ? best->seq : UINT64_MAX;
}

uint64_t
td_cut_moments_next(td_cut_moments *self, uint64_t first, uint64_t wanted) {
  uint64_t from = first + wanted, to = first + PATIENCE * wanted;
  while (self->next_quiet < self->n_quiet && self->quiet[self->next_quiet] < from)
    self->next_quiet++;
  uint64_t quiet = self->next_quiet < self->n_quiet ? self->quiet[self->next_quiet] : UINT64_MAX;
  if (quiet < to) return quiet;
  return TD_MIN(calmest(self, from, to), quiet);
}

void
td_cut_moments_fini(td_cut_moments *self) {
  free(self->quiet);
  free(self->calm);
  td_number_map_fini(&self->declaring);
  *self = (td_cut_moments){0};
}
