/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/pass_handings.h"

#include "engine/base/alloc.h"

static uint64_t
key_of(uint32_t graph_task, uint32_t node) {
  return (uint64_t)graph_task << 32 | node;
}

void
td_handings_know(td_handings *self, uint32_t graph_task, uint32_t node, uint32_t task) {
  *td_number_map_put(&self->tasks, key_of(graph_task, node)) = task + UINT64_C(1);
}

uint32_t
td_handings_add(td_handings *self, td_handing handing) {
  TD_GROW(self->items, self->n, self->capacity);
  self->items[self->n] = handing;
  return self->n++;
}

/* TD_NONE if there is no such task. */
static uint32_t
target_of(const td_handings *self, const td_pass_model *model, const td_handing *handing) {
  uint32_t graph_task = model->passes[model->tasks[handing->from].pass].graph_task;
  const uint64_t *found = td_number_map_find(&self->tasks, key_of(graph_task, handing->to_node));
  return found ? (uint32_t)(*found - 1) : TD_NONE;
}

/* Where each task's deliveries begin. Their numbers are counted once more when they are put. */
static void
make_room(const td_handings *self, td_pass_model *model) {
  for (uint32_t i = 0; i < self->n; i++)
    model->tasks[self->items[i].from].n += target_of(self, model, &self->items[i]) != TD_NONE;
  for (uint32_t i = 0; i < model->n_tasks; i++) {
    model->tasks[i].first = model->n_deliveries;
    model->n_deliveries += model->tasks[i].n;
    model->tasks[i].n = 0;
  }
  model->deliveries = TD_NEW_N(td_model_delivery, TD_MAX(model->n_deliveries, 1u));
}

void
td_handings_make(const td_handings *self, td_pass_model *model) {
  make_room(self, model);
  for (uint32_t i = 0; i < self->n; i++) {
    const td_handing *one = &self->items[i];
    td_model_task *from = &model->tasks[one->from];
    uint32_t to = target_of(self, model, one);
    if (to == TD_NONE) continue;
    model->tasks[to].n_awaited++;
    model->has_bytes |= one->bytes > 0;
    model->deliveries[from->first + from->n++] =
        (td_model_delivery){one->from, to, one->offset_ns, one->bytes, one->piece};
  }
}

void
td_handings_clear(td_handings *self) {
  self->n = 0;
  td_number_map_fini(&self->tasks);
}

void
td_handings_fini(td_handings *self) {
  td_handings_clear(self);
  free(self->items);
  *self = (td_handings){0};
}
