/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/pass_lives.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

static void
life_cb(const td_life *life, void *data) {
  td_pass_lives *self = data;
  if (life->graph_task != self->graph_task) return;
  TD_GROW(self->lives, self->n, self->capacity);
  self->lives[self->n++] = *life;
}

static int
compare_lives(const void *a, const void *b) {
  const td_life *left = a, *right = b;
  if (left->node != right->node) return left->node < right->node ? -1 : 1;
  return (left->begin_seq > right->begin_seq) - (left->begin_seq < right->begin_seq);
}

static void
learn(td_pass_lives *self, const td_tape_info *info) {
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    self->is_known[part] = td_life_is_known(info, (td_life_part)part);
  self->known = info->known[TD_EVENT_node_end];
}

void
td_pass_lives_read(td_pass_lives *self, td_tape *tape, uint32_t graph_task, uint64_t first,
                   uint64_t end) {
  *self = (td_pass_lives){.graph_task = graph_task};
  learn(self, td_tape_info_get(tape));
  td_lives *lives =
      td_lives_new(td_tape_info_get(tape), (td_life_listener){.life = life_cb, .data = self});
  for (uint64_t seq = first; seq < end; seq++) {
    td_any_event event;
    if (td_tape_get(tape, seq, &event, NULL) != TD_OK) continue;
    td_lives_at(lives, seq);
    td_lives_apply(lives, &event);
  }
  td_lives_end(lives);
  td_lives_free(lives);
  if (self->n) qsort(self->lives, self->n, sizeof *self->lives, compare_lives);
}

void
td_pass_lives_fini(td_pass_lives *self) {
  free(self->lives);
  *self = (td_pass_lives){0};
}

uint64_t
td_pass_lives_begin(const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  uint64_t begin = 0;
  for (uint32_t i = 0; facts && i <= catalog->n_graph_tasks; i++) {
    begin = facts->begin_seq;
    facts = facts->outer == TD_NONE ? NULL : td_catalog_graph_task_find(catalog, facts->outer);
  }
  return begin;
}

const td_life *
td_pass_lives_find(const td_pass_lives *self, uint32_t node) {
  uint32_t after;
  TD_BISECT(after, 0, self->n, self->lives[after].node <= node);
  return after && self->lives[after - 1].node == node ? &self->lives[after - 1] : NULL;
}
