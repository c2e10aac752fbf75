/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_places.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

#include <stdlib.h>

void
td_find_places_step(td_find_places *self, const td_event_step *event, uint64_t seq) {
  TD_GROW(self->steps, self->n_steps, self->steps_capacity);
  self->steps[self->n_steps++] = (td_step_end){seq, event->iteration};
}

void
td_find_places_begin_pass(td_find_places *self, const td_event_graph_task_begin *event,
                          uint64_t seq) {
  self->n_begun++;
  if (event->depth) return;
  TD_GROW(self->passes, self->n_passes, self->passes_capacity);
  self->passes[self->n_passes++] =
      (td_pass_place){seq, UINT64_MAX, event->graph_task, self->n_begun, self->n_open > 0};
  *td_number_map_put(&self->open, event->graph_task) = self->n_passes;
  self->n_open++;
}

void
td_find_places_end_pass(td_find_places *self, uint32_t graph_task, uint64_t seq) {
  uint64_t *number = td_number_map_find(&self->open, graph_task);
  if (!number || !*number) return;
  td_pass_place *pass = &self->passes[*number - 1];
  pass->end_seq = seq;
  pass->overlaps |= *number < self->n_passes;
  self->n_open--;
  *number = 0;
}

/* A step is counted when it is over. */
static uint32_t
step_at(const td_find_places *self, uint64_t seq) {
  uint32_t after;
  TD_BISECT(after, 0, self->n_steps, self->steps[after].seq < seq);
  return after < self->n_steps ? self->steps[after].iteration : TD_NONE;
}

/* Or NULL. */
static const td_pass_place *
pass_at(const td_find_places *self, uint64_t seq) {
  uint32_t after;
  TD_BISECT(after, 0, self->n_passes, self->passes[after].begin_seq <= seq);
  const td_pass_place *pass = after ? &self->passes[after - 1] : NULL;
  return pass && !pass->overlaps && pass->end_seq >= seq ? pass : NULL;
}

void
td_find_places_tell(const td_find_places *self, bool has_processes, td_findings *findings) {
  for (uint32_t i = 0; i < findings->n; i++) {
    td_finding *finding = &findings->items[i];
    finding->step = has_processes ? TD_NONE : step_at(self, finding->seq);
    const td_pass_place *pass = pass_at(self, finding->seq);
    finding->graph_task = pass ? pass->graph_task : TD_NONE;
    finding->pass = pass && !has_processes ? pass->number : 0;
  }
}

void
td_find_places_fini(td_find_places *self) {
  free(self->steps);
  free(self->passes);
  td_number_map_fini(&self->open);
  *self = (td_find_places){0};
}
