/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/late_names.h"

#include "engine/base/alloc.h"

#include <stdlib.h>

/* So many dead leaves may stay in the map. */
#define DEAD_LEAVES 4096

static void
forget(td_late_names *self, uint64_t *born) {
  *born = 0;
  if (++self->n_dead < TD_MAX(DEAD_LEAVES, self->unnamed.n / 2)) return;
  td_number_map_forget_zeros(&self->unnamed);
  self->n_dead = 0;
}

static void
note_birth(td_late_names *self, const td_event_node_new *event, uint64_t seq) {
  if (event->sequence_nr == UINT64_MAX && event->node != TD_NONE)
    *td_number_map_put(&self->unnamed, event->node) = 1 + seq;
}

static void
note_name(td_late_names *self, const td_event_node_label *event, uint64_t seq) {
  uint64_t *born = td_number_map_find(&self->unnamed, event->node);
  if (!born || !*born) return;
  uint64_t birth = *born - 1;
  forget(self, born);
  if (self->last_cut <= birth) return;
  TD_GROW(self->births, self->names.n, self->capacity);
  self->births[self->names.n] = birth;
  td_keyframe_put(&self->names, &event->event, seq);
}

static void
note_death(td_late_names *self, const td_event_node_free *event) {
  uint64_t *born = td_number_map_find(&self->unnamed, event->node);
  if (born && *born) forget(self, born);
}

void
td_late_names_take(td_late_names *self, const td_event *event, uint64_t seq, bool may_cut) {
  if (may_cut) self->last_cut = seq;
  if (event->kind == TD_EVENT_node_new) note_birth(self, (const td_event_node_new *)event, seq);
  if (event->kind == TD_EVENT_node_label) note_name(self, (const td_event_node_label *)event, seq);
  if (event->kind == TD_EVENT_node_free) note_death(self, (const td_event_node_free *)event);
}

void
td_late_names_put(const td_late_names *self, td_keyframe *keyframe, uint64_t end) {
  size_t i = 0;
  TD_PILE_EACH(&self->names.events, event) {
    uint64_t seq = self->names.seqs[i];
    if (self->births[i++] < end && seq >= end) td_keyframe_put(keyframe, event, seq);
  }
}

void
td_late_names_fini(td_late_names *self) {
  td_number_map_fini(&self->unnamed);
  td_keyframe_fini(&self->names);
  free(self->births);
  *self = (td_late_names){0};
}
