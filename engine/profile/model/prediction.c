/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/prediction.h"

#include "engine/base/alloc.h"
#include "engine/profile/model/model_visit.h"
#include "engine/profile/model/prediction_tape.h"

typedef struct writing {
  td_prediction_tape tape;
  bool *is_found; /* (owned) by change of the plan */
  uint32_t n_passes;
} writing;

static td_status
add_model(const td_pass_model *model, const td_catalog *catalog, void *data) {
  writing *self = data;
  self->n_passes += model->n_passes;
  td_virtual_tasks_find(model, self->tape.plan->scalings, self->tape.plan->n_scalings,
                        self->is_found);
  return td_prediction_tape_add(&self->tape, model, catalog);
}

static td_status
read_models(writing *self, td_tape *tape, td_error *error) {
  uint32_t n_left_out;
  const td_virtual_plan *plan = self->tape.plan;
  td_status status = td_model_visit(tape, add_model, self, &n_left_out, error);
  if (!status && !self->n_passes)
    status = td_error_set(error, TD_OUT_OF_RANGE, "no backward pass of this tape ended well");
  if (!status)
    status = td_virtual_tasks_refuse(plan->scalings, plan->n_scalings, self->is_found, error);
  return status;
}

td_status
td_prediction_write(td_tape *tape, const td_virtual_plan *plan, const char *path, bool overwrite,
                    td_error *error) {
  writing self = {.tape.plan = plan};
  uint64_t started_ns = td_tape_info_get(tape)->started_ns;
  td_status status = td_maker_open(path, overwrite, 0, started_ns, &self.tape.maker, error);
  if (status) return status;
  self.is_found = TD_NEW_N(bool, plan->n_scalings);
  status = read_models(&self, tape, error);
  td_prediction_tape_end(&self.tape);
  free(self.is_found);
  if (!status) return td_maker_close(self.tape.maker, error);
  td_maker_abandon(self.tape.maker);
  return status;
}
