/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/model_visit.h"

#include "engine/profile/knowledge.h"
#include "engine/profile/model/modeller.h"
#include "engine/replay/catalog_visit.h"

typedef struct walk {
  td_tape *tape;
  td_modeller *modeller;
  const td_catalog *catalog; /* (borrowed) of the segment, while it is visited; else NULL */
  td_model_visitor visit;
  void *data;
  td_status status;
} walk;

bool
td_model_warms_up(const td_pass_model *model, const td_catalog *catalog) {
  if (model->n_passes != 1) return false;
  const td_catalog_graph_task *pass =
      td_catalog_graph_task_find(catalog, model->passes[0].graph_task);
  return pass && pass->number == 1;
}

static void
model_cb(const td_pass_model *model, void *data) {
  walk *self = data;
  if (!self->status) self->status = self->visit(model, self->catalog, self->data);
}

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  walk *self = data;
  const td_segment segment = {.number = TD_SEGMENT_WHOLE, .first = first, .end = end};
  self->catalog = catalog;
  td_tape_begin_pass(self->tape, &segment);
  for (uint64_t seq = first; seq < end && !self->status; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) td_modeller_apply(self->modeller, catalog, event);
  }
  td_tape_end_pass(self->tape);
  self->catalog = NULL;
  if (self->status) return td_error_set(error, self->status, "no memory for a backward pass");
  return td_tape_check_readable(self->tape, error);
}

td_status
td_model_visit(td_tape *tape, td_model_visitor visit, void *data, uint32_t *n_left_out,
               td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  walk self = {.tape = tape, .visit = visit, .data = data};
  *n_left_out = 0;
  td_status status = td_knowledge_require_queues(info, error);
  if (status) return status;
  self.modeller = td_modeller_new(model_cb, &self);
  status = td_catalog_visit(tape, 0, info->n_events, visit_segment, &self, error);
  *n_left_out = td_modeller_end(self.modeller);
  td_modeller_free(self.modeller);
  return status;
}
