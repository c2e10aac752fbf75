/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/overlay.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/profile/knowledge.h"
#include "engine/profile/model/critical.h"
#include "engine/profile/model/modeller.h"
#include "engine/profile/report/lives.h"

#include <math.h>

static const struct {
  const char *name, *label;
} kinds[TD_N_OVERLAYS] = {
#define X(name, label) {#name, label},
    TD_OVERLAYS(X)
#undef X
};

const char *
td_overlay_name(td_overlay_kind kind) {
  return kinds[kind].name;
}

const char *
td_overlay_label(td_overlay_kind kind) {
  return kinds[kind].label;
}

/* What was found of a node. */
typedef struct figure {
  double value;
  uint32_t step;
  bool is_known;
} figure;

typedef struct collecting {
  td_tape *tape;
  const td_catalog *catalog;
  uint32_t graph_task;
  td_overlay_kind kind;
  figure *figures; /* (owned) by row of the catalog */
  td_lives *lives;
  td_modeller *modeller;
  td_status status;
  bool has_pass;
} collecting;

static figure *
figure_of(collecting *self, uint32_t node) {
  uint32_t row = td_catalog_node_row(self->catalog, node);
  if (row == TD_NO_ROW) return NULL;
  self->figures[row].is_known = true;
  return &self->figures[row];
}

static void
add(collecting *self, uint32_t node, double value) {
  figure *found = figure_of(self, node);
  if (found) found->value += value;
}

/* ---- each kind ---- */

static void
life_cb(const td_life *life, void *data) {
  collecting *self = data;
  if (life->graph_task != self->graph_task) return;
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    if (part != TD_LIFE_dependency_wait && part != TD_LIFE_queue_wait)
      add(self, life->node, (double)life->parts[part]);
}

static void
add_critical(collecting *self, const td_pass_model *model, const td_critical *critical) {
  uint32_t n_nodes = 0;
  for (uint32_t i = 0; i < critical->n_steps; i++) {
    const td_model_task *task = &model->tasks[critical->steps[i].task];
    n_nodes += !critical->steps[i].is_same_task;
    figure *found = model->passes[task->pass].graph_task == self->graph_task
                        ? figure_of(self, task->node)
                        : NULL;
    if (!found) continue;
    found->value += (double)critical->steps[i].ns;
    found->step = n_nodes;
  }
}

static void
add_slack(collecting *self, const td_pass_model *model, const td_critical *critical) {
  for (uint32_t i = 0; i < model->n_tasks; i++)
    if (model->passes[model->tasks[i].pass].graph_task == self->graph_task)
      add(self, model->tasks[i].node, (double)critical->slack_ns[i]);
}

static void
model_cb(const td_pass_model *model, void *data) {
  collecting *self = data;
  td_critical critical;
  if (self->status) return;
  for (uint32_t i = 0; i < model->n_passes; i++)
    self->has_pass |= model->passes[i].graph_task == self->graph_task;
  self->status = td_critical_make(model, &critical);
  if (self->status) return;
  if (self->kind == TD_OVERLAY_critical)
    add_critical(self, model, &critical);
  else
    add_slack(self, model, &critical);
  td_critical_fini(&critical);
}

/* A gradient that is added to another one takes no further room. */
static void
note_buffer(collecting *self, const td_event_buffer_add *event) {
  bool is_added = event->mode == TD_accumulation_in_place ||
                  event->mode == TD_accumulation_out_of_place ||
                  event->mode == TD_accumulation_undefined;
  if (event->graph_task == self->graph_task && !is_added)
    add(self, event->node, (double)event->bytes);
}

static void
note_norm(collecting *self, const td_event_tensor_stats *event) {
  bool is_measured = event->graph_task == self->graph_task && !isnan(event->l2);
  figure *found = is_measured ? figure_of(self, event->node) : NULL;
  if (found) found->value = fmax(found->value, event->l2);
}

static td_status
add_saved(collecting *self, td_error *error) {
  const td_catalog_mentions *saved = &self->catalog->mentions[TD_LIST_saved];
  for (uint32_t i = 0; i < saved->n; i++) {
    td_any_event event;
    td_status status =
        td_catalog_event(self->catalog, self->tape, saved->items[i].seq, &event, error);
    if (status) return status;
    add(self, event.saved_tensor.node, (double)event.saved_tensor.bytes);
  }
  return TD_OK;
}

static void
apply(collecting *self, const td_any_event *event) {
  switch (self->kind) {
  case TD_OVERLAY_time:
    return td_lives_apply(self->lives, event);
  case TD_OVERLAY_critical:
  case TD_OVERLAY_slack:
    return td_modeller_apply(self->modeller, self->catalog, event);
  case TD_OVERLAY_bytes:
    if (event->event.kind == TD_EVENT_buffer_add) note_buffer(self, &event->buffer_add);
    return;
  case TD_OVERLAY_norm:
    if (event->event.kind == TD_EVENT_tensor_stats) note_norm(self, &event->tensor_stats);
    return;
  case TD_N_OVERLAYS:
    return;
  }
}

/* ---- going through the pass ---- */

static td_status
visit(collecting *self, uint64_t first, uint64_t end, td_error *error) {
  const td_segment segment = {.number = TD_SEGMENT_WHOLE, .first = first, .end = end};
  td_tape_begin_pass(self->tape, &segment);
  for (uint64_t seq = first; seq < end && !self->status; seq++) {
    const td_any_event *event = td_tape_peek(self->tape, seq);
    if (event) apply(self, event);
  }
  td_tape_end_pass(self->tape);
  if (self->status) return td_error_set(error, self->status, "no memory for a backward pass");
  return td_tape_check_readable(self->tape, error);
}

static bool
widen(const td_catalog_graph_task *pass, uint64_t *first, uint64_t *end) {
  bool overlaps = pass->begin_seq < *end && pass->end_seq > *first;
  if (!overlaps || (pass->begin_seq >= *first && pass->end_seq <= *end)) return false;
  *first = TD_MIN(*first, pass->begin_seq);
  *end = TD_MAX(*end, pass->end_seq);
  return true;
}

/* The passes that overlap one, and those that overlap these: a model needs them all. */
static void
find_range(const td_catalog *catalog, const td_catalog_graph_task *pass, uint64_t *first,
           uint64_t *end) {
  uint32_t n = catalog->n_graph_tasks;
  *first = pass->begin_seq;
  *end = pass->end_seq;
  for (bool grows = true; grows;) {
    grows = false;
    for (uint32_t i = 0; i < n; i++)
      grows |= widen(&catalog->graph_task_rows[i], first, end);
    for (uint32_t i = n; i-- > 0;)
      grows |= widen(&catalog->graph_task_rows[i], first, end);
  }
}

static td_event_kind
source_of(td_overlay_kind kind) {
  static const td_event_kind sources[TD_N_OVERLAYS] = {
      [TD_OVERLAY_time] = TD_EVENT_node_end,     [TD_OVERLAY_bytes] = TD_EVENT_buffer_add,
      [TD_OVERLAY_norm] = TD_EVENT_tensor_stats, [TD_OVERLAY_critical] = TD_EVENT_queue_pop,
      [TD_OVERLAY_slack] = TD_EVENT_queue_pop,
  };
  return sources[kind];
}

static td_status
lacks_norms(td_error *error) {
  return td_error_set(error, TD_UNSUPPORTED,
                      "no gradient of this pass was measured: record with --stats full");
}

static td_status
check(const td_tape_info *info, const td_catalog_graph_task *pass, td_overlay_kind kind,
      td_error *error) {
  bool is_path = kind == TD_OVERLAY_critical || kind == TD_OVERLAY_slack;
  if (is_path && pass->outer != TD_NONE)
    return td_error_set(error, TD_UNSUPPORTED,
                        "a pass inside another has no critical path of its own");
  if (is_path) return td_knowledge_require_queues(info, error);
  td_event_kind source = source_of(kind);
  if (td_knowledge_applies(info, source) && info->known[source] != TD_knowledge_absent)
    return TD_OK;
  if (kind == TD_OVERLAY_norm) return lacks_norms(error);
  return td_error_set(error, TD_UNSUPPORTED, "the tape has no events of kind %s",
                      td_event_type_get(source)->name);
}

/* ---- the end ---- */

static double
heat_of(const td_overlay *overlay, double value) {
  double span = overlay->most - (overlay->kind == TD_OVERLAY_slack ? 0 : fmin(overlay->least, 0));
  double share = span > 0 ? fmin(fmax(value / span, 0), 1) : 0;
  switch (overlay->kind) {
  case TD_OVERLAY_slack:
    return 1 - sqrt(share);
  case TD_OVERLAY_critical:
    return 0.4 + 0.6 * sqrt(share); /* the shortest step is on the path too */
  default:
    return sqrt(share);
  }
}

static td_status
finish(const collecting *self, td_overlay *overlay, td_error *error) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < self->catalog->n_nodes; i++)
    n += self->figures[i].is_known;
  overlay->values = td_try_alloc(TD_MAX(n, 1u), sizeof *overlay->values);
  if (!overlay->values) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the overlay");
  for (uint32_t i = 0; i < self->catalog->n_nodes; i++) {
    const figure *found = &self->figures[i];
    if (!found->is_known) continue;
    bool is_first = !overlay->n_values;
    overlay->values[overlay->n_values++] = (td_overlay_value){
        .node = self->catalog->node_rows[i].id, .step = found->step, .value = found->value};
    overlay->least = is_first ? found->value : fmin(overlay->least, found->value);
    overlay->most = is_first ? found->value : fmax(overlay->most, found->value);
  }
  for (uint32_t i = 0; i < overlay->n_values; i++)
    overlay->values[i].heat = heat_of(overlay, overlay->values[i].value);
  return TD_OK;
}

static td_status
collect(collecting *self, const td_catalog_graph_task *pass, td_error *error) {
  const td_segment *segment = &self->catalog->segment;
  uint64_t first, end;
  td_status status = TD_OK;
  find_range(self->catalog, pass, &first, &end);
  self->lives =
      td_lives_new(td_tape_info_get(self->tape), (td_life_listener){.life = life_cb, .data = self});
  self->modeller = td_modeller_new(model_cb, self);
  if (self->kind == TD_OVERLAY_bytes) status = add_saved(self, error);
  if (!status)
    status = visit(self, TD_MAX(first, segment->first), TD_MIN(end + 1, segment->end), error);
  td_lives_end(self->lives);
  td_modeller_end(self->modeller);
  td_lives_free(self->lives);
  td_modeller_free(self->modeller);
  return status;
}

td_status
td_overlay_make(td_tape *tape, const td_catalog *catalog, uint32_t graph_task, td_overlay_kind kind,
                td_overlay *overlay, td_error *error) {
  const td_tape_info *info = td_tape_info_get(tape);
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, graph_task);
  collecting self = {.tape = tape, .catalog = catalog, .graph_task = graph_task, .kind = kind};
  *overlay =
      (td_overlay){.kind = kind, .graph_task = graph_task, .known = info->known[source_of(kind)]};
  if (!pass) return td_error_set(error, TD_OUT_OF_RANGE, "there is no such backward pass");
  td_status status = check(info, pass, kind, error);
  if (status) return status;
  self.figures = td_try_alloc(TD_MAX(catalog->n_nodes, 1u), sizeof *self.figures);
  if (!self.figures) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the overlay");
  status = collect(&self, pass, error);
  bool is_path = kind == TD_OVERLAY_critical || kind == TD_OVERLAY_slack;
  if (!status && is_path && !self.has_pass)
    status = td_error_set(error, TD_OUT_OF_RANGE, "graph task %u did not end well", graph_task);
  if (!status) status = finish(&self, overlay, error);
  if (!status && kind == TD_OVERLAY_norm && !overlay->n_values) status = lacks_norms(error);
  free(self.figures);
  return status;
}

void
td_overlay_fini(td_overlay *overlay) {
  free(overlay->values);
  *overlay = (td_overlay){0};
}

const td_overlay_value *
td_overlay_find(const td_overlay *overlay, uint32_t node) {
  uint32_t at = 0;
  TD_BISECT(at, 0, overlay->n_values, overlay->values[at].node < node);
  return at < overlay->n_values && overlay->values[at].node == node ? &overlay->values[at] : NULL;
}
