/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/whatif.h"

#include "engine/base/alloc.h"
#include "engine/profile/model/model_visit.h"

#include <string.h>

typedef struct asking {
  const td_virtual_plan *plans; /* (borrowed) [n_plans] */
  uint32_t n_plans, skip_first;
  td_whatif *whatif;
  td_virtual_result *results; /* (borrowed) [n_plans] */
  td_whatif warming;          /* of the tape's first pass, until another one comes */
  td_virtual_result *warmed;  /* (owned) [n_plans] */
  bool *is_found;             /* (owned) by change of the first plan: all plans have the same */
} asking;

static const td_virtual_plan as_recorded = {.schedule = TD_SCHEDULE_engine, .n_workers = 1};

static bool
is_as_recorded(const td_virtual_plan *plan) {
  return plan->schedule == as_recorded.schedule && plan->n_workers == as_recorded.n_workers &&
         plan->n_devices == as_recorded.n_devices && plan->n_scalings == 0 && plan->frees == 0;
}

static void
add_held(const td_pass_model *model, td_whatif *whatif) {
  for (uint32_t i = 0; i < model->n_holds; i++) {
    const td_model_hold *hold = &model->holds[i];
    if (hold->lock == TD_lock_kind_graph_task || hold->lock == TD_lock_kind_gil)
      whatif->held[td_model_freeable_of(hold->lock)] += hold->end_ns - hold->begin_ns;
  }
  for (uint32_t i = 0; i < model->n_stalls; i++) {
    whatif->has_hooks |= model->stalls[i].what == TD_FREE_hook;
    whatif->gil_known |= model->stalls[i].what == TD_FREE_gil;
  }
}

static td_status
run(asking *self, const td_pass_model *model, td_whatif *whatif, td_virtual_result *results) {
  for (uint32_t i = 0; i < model->n_passes; i++)
    whatif->recorded += model->passes[i].end_ns - model->passes[i].begin_ns;
  whatif->n_passes += model->n_passes;
  whatif->n_devices = model->n_devices;
  whatif->has_bytes |= model->has_bytes;
  add_held(model, whatif);
  td_status status = td_virtual_run(model, &as_recorded, NULL, &whatif->replayed);
  for (uint32_t i = 0; i < self->n_plans && !status; i++)
    if (is_as_recorded(&self->plans[i]))
      results[i] = whatif->replayed;
    else
      status = td_virtual_run(model, &self->plans[i], NULL, &results[i]);
  return status;
}

static bool
is_skipped(const asking *self) {
  return self->skip_first != TD_WHATIF_SKIP_WARMING && self->whatif->n_skipped < self->skip_first;
}

static td_status
visit(const td_pass_model *model, const td_catalog *catalog, void *data) {
  asking *self = data;
  self->whatif->gil_known |= strcmp(td_catalog_setting_find(catalog, "gil"), "watched") == 0;
  if (self->n_plans)
    td_virtual_tasks_find(model, self->plans->scalings, self->plans->n_scalings, self->is_found);
  bool warms_up = self->skip_first == TD_WHATIF_SKIP_WARMING && td_model_warms_up(model, catalog);
  if (!warms_up && !is_skipped(self)) return run(self, model, self->whatif, self->results);
  self->whatif->n_skipped += model->n_passes;
  return warms_up ? run(self, model, &self->warming, self->warmed) : TD_OK;
}

/* The tape's first pass counts if no other one ended well. */
static void
take_warming(asking *self) {
  if (self->whatif->n_passes || !self->warming.n_passes) return;
  const td_whatif now = *self->whatif;
  *self->whatif = self->warming;
  self->whatif->n_left_out = now.n_left_out;
  self->whatif->locks_known = now.locks_known;
  self->whatif->gil_known |= now.gil_known;
  for (uint32_t i = 0; i < self->n_plans; i++)
    self->results[i] = self->warmed[i];
}

static td_status
find_none(const asking *self, td_error *error) {
  const char *words = self->whatif->n_skipped
                          ? "no backward pass is left: those that ended well are all left out"
                          : "no backward pass of this tape ended well";
  return td_error_set(error, TD_OUT_OF_RANGE, "%s", words);
}

/* What the tape does not tell of cannot be taken away. */
static td_status
refuse_unknown(const td_whatif *whatif, unsigned frees, td_error *error) {
  bool is_lock = frees >> TD_FREE_lock & 1, is_gil = frees >> TD_FREE_gil & 1;
  if (is_lock && !whatif->locks_known)
    return td_error_set(error, TD_UNSUPPORTED, "this tape does not tell of waits for locks");
  if (is_gil && !whatif->gil_known)
    return td_error_set(error, TD_UNSUPPORTED, "this tape does not tell of waits for the GIL");
  if (frees >> TD_FREE_hook & 1 && !whatif->has_hooks)
    return td_error_set(error, TD_OUT_OF_RANGE, "no hook was called in these passes");
  return TD_OK;
}

td_status
td_whatif_make(td_tape *tape, const td_virtual_plan *plans, uint32_t n_plans, uint32_t skip_first,
               td_whatif *whatif, td_virtual_result *results, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  *whatif = (td_whatif){.locks_known = info->known[TD_EVENT_lock_wait] == TD_knowledge_observed};
  for (uint32_t i = 0; i < n_plans; i++)
    results[i] = (td_virtual_result){0};
  asking self = {.plans = plans,
                 .n_plans = n_plans,
                 .skip_first = skip_first,
                 .whatif = whatif,
                 .results = results,
                 .warmed = TD_NEW_N(td_virtual_result, n_plans)};
  self.is_found = TD_NEW_N(bool, n_plans ? plans->n_scalings : 0);
  td_status status = td_model_visit(tape, visit, &self, &whatif->n_left_out, error);
  take_warming(&self);
  if (!status && !whatif->n_passes) status = find_none(&self, error);
  if (!status && n_plans)
    status = td_virtual_tasks_refuse(plans->scalings, plans->n_scalings, self.is_found, error);
  if (!status && n_plans) status = refuse_unknown(whatif, plans->frees, error);
  free(self.is_found);
  free(self.warmed);
  return status;
}

double
td_whatif_error(const td_whatif *whatif) {
  double recorded = (double)whatif->recorded, replayed = (double)whatif->replayed.wall;
  if (whatif->recorded == 0) return 0;
  return (replayed > recorded ? replayed - recorded : recorded - replayed) / recorded;
}
