/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/findings.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/findings/find_failure.h"
#include "engine/profile/findings/find_gil.h"
#include "engine/profile/findings/find_hooks.h"
#include "engine/profile/findings/find_kept.h"
#include "engine/profile/findings/find_leaves.h"
#include "engine/profile/findings/find_lines.h"
#include "engine/profile/findings/find_losses.h"
#include "engine/profile/findings/find_orders.h"
#include "engine/profile/findings/find_places.h"
#include "engine/profile/findings/find_ranks.h"
#include "engine/profile/findings/find_results.h"
#include "engine/profile/findings/find_roots.h"
#include "engine/profile/findings/find_rules.h"
#include "engine/profile/findings/find_slices.h"
#include "engine/profile/findings/find_stale.h"
#include "engine/profile/findings/find_troubles.h"
#include "engine/profile/findings/find_unreached.h"
#include "engine/profile/findings/find_zeros.h"
#include "engine/profile/source_place.h"
#include "engine/replay/catalog_visit.h"
#include "engine/rules/task_order.h"

#include <stdlib.h>

#define DEPTH_TOLD (TD_MAX_DEPTH / 2)
#define RESULTS_TOLD 8

/* ---- looking ---- */

#define FORGOTTEN_TOGETHER 64u /* passes that have ended, at least */

typedef struct looking {
  td_tape *tape;
  td_findings *findings;
  td_find_troubles troubles;
  td_find_hooks hooks;
  td_find_gil gil;
  td_find_ranks ranks;
  td_find_kept kept;
  td_find_orders orders;
  td_find_places places;
  td_find_lines lines;
  td_find_unreached unreached;
  td_find_leaves leaves;
  td_find_zeros zeros;
  td_find_stale stale;
  td_find_results results;
  td_find_roots roots;
  td_find_slices slices;
  td_find_losses losses;
  td_find_failure failure;
  td_event_optimizer_idle idle; /* the last one, or zeros */
  uint64_t idle_seq;
  td_event_graphs_unreached unreached_graphs; /* the last one, or zeros */
  uint64_t unreached_seq;
  bool has_stacks;         /* of the lines that made nodes */
  bool has_gaps;           /* the recording left passes out */
  bool has_processes;      /* more than one */
  td_number_map outermost; /* graph tasks under way: 1 + the root; after its end 0 */
  uint32_t forgotten_at;   /* size of the map */
  td_finding deepest;
  uint32_t depth;
} looking;

static const td_period *
period_now(const looking *self) {
  return self->kept.n ? &self->kept.periods[self->kept.n - 1] : NULL;
}

static void
begin_pass(looking *self, const td_event_graph_task_begin *event) {
  if (event->depth) return;
  *td_number_map_put(&self->outermost, event->graph_task) = 1 + (uint64_t)event->root;
  td_find_kept_begin_pass(&self->kept, event);
  td_find_orders_begin_pass(&self->orders, event->graph_task);
}

/* Passes that never end stay. So the map is gone through only after it has doubled. */
static void
forget_some(looking *self) {
  if (self->outermost.n < self->forgotten_at) return;
  td_number_map_forget_zeros(&self->outermost);
  self->forgotten_at = TD_MAX(2 * self->outermost.n, FORGOTTEN_TOGETHER);
}

static void
end_pass(looking *self, const td_event_graph_task_end *event, uint64_t seq) {
  uint64_t *found = td_number_map_find(&self->outermost, event->graph_task);
  if (!found || !*found) return;
  uint32_t root = (uint32_t)(*found - 1);
  *found = 0;
  forget_some(self);
  td_find_places_end_pass(&self->places, event->graph_task, seq);
  td_find_troubles_end_pass(&self->troubles);
  td_find_hooks_end_pass(&self->hooks);
  td_find_zeros_end_pass(&self->zeros);
  td_find_slices_end_pass(&self->slices);
  if (!self->kept.is_confused) td_find_orders_end_pass(&self->orders);
  td_find_kept_end_pass(&self->kept, root, seq);
}

static void
enter(looking *self, const td_event_reentrant_enter *event, uint64_t seq) {
  if (event->depth <= self->depth) return;
  self->depth = event->depth;
  self->deepest =
      (td_finding){.kind = TD_FINDING_deep_reentry, .seq = seq, .node = event->node, .n = 1};
}

static void
event_cb(const td_catalog *so_far, const td_any_event *event, uint64_t seq, void *data) {
  looking *self = data;
  td_find_ranks_see(&self->ranks, self->tape, so_far, event, seq);
  switch (event->event.kind) {
  case TD_EVENT_node_new:
    td_find_zeros_make(&self->zeros, event->node_new.node,
                       td_tape_string(self->tape, event->node_new.name));
    self->has_stacks |= event->node_new.stack != 0;
    td_find_lines_meet(&self->lines, self->tape, event->node_new.stack);
    td_find_roots_make(&self->roots, &event->node_new);
    td_find_slices_make(&self->slices, event->node_new.node,
                        td_tape_string(self->tape, event->node_new.name));
    td_find_stale_make(&self->stale, &event->node_new,
                       td_tape_string(self->tape, event->node_new.name));
    return td_find_kept_make(&self->kept, &event->node_new);
  case TD_EVENT_edge_new:
    return td_find_stale_link(&self->stale, &event->edge_new);
  case TD_EVENT_node_free:
    td_find_leaves_free_node(&self->leaves, event->node_free.node);
    td_find_roots_free_node(&self->roots, event->node_free.node);
    td_find_slices_free_node(&self->slices, event->node_free.node);
    td_find_stale_free_node(&self->stale, event->node_free.node);
    return td_find_kept_free(&self->kept, event->node_free.node);
  case TD_EVENT_node_label:
    return td_find_leaves_label(&self->leaves, &event->node_label);
  case TD_EVENT_saved_tensor:
    return td_find_zeros_save(&self->zeros, &event->saved_tensor,
                              td_tape_string(self->tape, event->saved_tensor.shape));
  case TD_EVENT_node_begin:
    td_find_gil_run(&self->gil, &event->node_begin);
    td_find_kept_run(&self->kept, event->node_begin.node);
    td_find_leaves_begin(&self->leaves, event->node_begin.node);
    td_find_stale_run(&self->stale, &self->leaves, event->node_begin.node, seq);
    return td_find_unreached_run(&self->unreached,
                                 td_find_leaves_label_of(&self->leaves, event->node_begin.node),
                                 event->node_begin.node);
  case TD_EVENT_lock_held:
    return td_find_gil_hold(&self->gil, &event->lock_held);
  case TD_EVENT_lock_acquired:
    return td_find_gil_acquire(&self->gil, &event->lock_acquired, seq);
  case TD_EVENT_root_look:
    return td_find_roots_look(&self->roots, &event->root_look, seq);
  case TD_EVENT_leaf_look:
    return td_find_leaves_look(&self->leaves, &event->leaf_look);
  case TD_EVENT_optimizes:
    return td_find_leaves_own(&self->leaves, &event->optimizes);
  case TD_EVENT_optimizer_step:
    td_find_leaves_step(&self->leaves, event->optimizer_step.optimizer);
    td_find_roots_step(&self->roots);
    return td_find_stale_step(&self->stale, event->optimizer_step.optimizer);
  case TD_EVENT_gradient_missing:
    return td_find_leaves_lose(&self->leaves, &event->gradient_missing, seq);
  case TD_EVENT_step_empty:
    return td_find_leaves_empty(&self->leaves, &event->step_empty, seq);
  case TD_EVENT_frozen_step:
    return td_find_leaves_freeze(&self->leaves, &event->frozen_step, seq);
  case TD_EVENT_optimizer_idle:
    if (event->optimizer_idle.parameters <= self->idle.parameters) return;
    self->idle = event->optimizer_idle;
    self->idle_seq = seq;
    return;
  case TD_EVENT_function_cycle:
    td_find_lines_meet(&self->lines, self->tape, event->function_cycle.place);
    return td_find_kept_cycle(&self->kept, self->tape, &event->function_cycle);
  case TD_EVENT_program_failed:
    td_find_lines_meet(&self->lines, self->tape, event->program_failed.stack);
    td_find_lines_meet(&self->lines, self->tape, event->program_failed.cut_stack);
    return td_find_failure_take(&self->failure, &event->program_failed, seq);
  case TD_EVENT_error:
    td_find_failure_note_error(&self->failure, &event->error);
    return td_find_troubles_take(&self->troubles, self->tape, event, seq);
  case TD_EVENT_graphs_unreached:
    self->unreached_graphs = event->graphs_unreached;
    td_find_lines_meet(&self->lines, self->tape, event->graphs_unreached.stack);
    self->unreached_seq = seq;
    return;
  case TD_EVENT_left_out:
    self->has_gaps = true;
    return td_find_leaves_interrupt(&self->leaves);
  case TD_EVENT_exec_info:
    return td_find_results_want(&self->results, &event->exec_info);
  case TD_EVENT_capture:
    return td_find_results_take(&self->results, &event->capture);
  case TD_EVENT_accumulate:
    td_find_leaves_store(&self->leaves, &event->accumulate, seq);
    td_find_zeros_store(&self->zeros);
    return td_find_unreached_store(&self->unreached,
                                   td_find_leaves_label_of(&self->leaves, event->accumulate.node));
  case TD_EVENT_buffer_add:
    td_find_slices_take(&self->slices, &event->buffer_add, seq);
    return td_find_orders_take(&self->orders, &event->buffer_add, seq, period_now(self));
  case TD_EVENT_tensor_stats:
    return td_find_zeros_measure(&self->zeros, &event->tensor_stats);
  case TD_EVENT_hook_begin:
    td_find_leaves_hook(&self->leaves, &event->hook_begin);
    td_find_zeros_hook(&self->zeros, &event->hook_begin);
    return td_find_hooks_take(&self->hooks, &event->hook_begin, seq);
  case TD_EVENT_no_gradient:
    td_find_leaves_miss(&self->leaves, event->no_gradient.name);
    td_find_lines_meet(&self->lines, self->tape, event->no_gradient.stack);
    return td_find_unreached_take(&self->unreached, self->tape, &event->no_gradient, seq);
  case TD_EVENT_source_line:
    return td_find_lines_read(&self->lines, self->tape, &event->source_line);
  case TD_EVENT_step:
    return td_find_places_step(&self->places, &event->step, seq);
  case TD_EVENT_graph_task_begin:
    td_find_places_begin_pass(&self->places, &event->graph_task_begin, seq);
    td_find_results_begin_pass(&self->results, &event->graph_task_begin);
    td_find_roots_begin_pass(&self->roots, &event->graph_task_begin);
    td_find_gil_begin_pass(&self->gil, &event->graph_task_begin);
    return begin_pass(self, &event->graph_task_begin);
  case TD_EVENT_graph_task_end:
    td_find_results_end_pass(&self->results, &event->graph_task_end, seq);
    td_find_roots_end_pass(&self->roots, event->graph_task_end.graph_task);
    td_find_gil_end_pass(&self->gil, &event->graph_task_end);
    return end_pass(self, &event->graph_task_end, seq);
  case TD_EVENT_reentrant_enter:
    return enter(self, &event->reentrant_enter, seq);
  case TD_EVENT_collective:
    return td_find_ranks_take(&self->ranks, self->tape, so_far, &event->collective, seq);
  case TD_EVENT_setting:
    td_find_ranks_set(&self->ranks, self->tape, &event->setting);
    return td_find_troubles_take(&self->troubles, self->tape, event, seq);
  case TD_EVENT_session_end:
    td_find_ranks_end(&self->ranks, so_far, &event->session_end);
    self->findings->status = event->session_end.status;
    return;
  case TD_EVENT_process_gone:
    return td_find_ranks_go(&self->ranks, so_far, &event->process_gone);
  default:
    return td_find_troubles_take(&self->troubles, self->tape, event, seq);
  }
}

static void
learn(looking *self, const td_catalog *catalog) {
  const td_tape_info *info = td_tape_info_get(self->tape);
  self->findings->looked_for = td_catalog_setting_find(catalog, "anomaly");
  self->findings->recorder_stopped |= catalog->recorder_stopped;
  for (td_finding_kind kind = 0; kind < TD_N_FINDING_KINDS; kind++)
    self->findings->unjudged[kind] = !td_finding_is_judged(info, catalog, kind);
}

static td_status
visit_segment(const td_catalog *catalog, uint64_t first, uint64_t end, void *data,
              td_error *error) {
  looking *self = data;
  learn(self, catalog);
  self->has_processes |= catalog->n_processes > 1;
  td_find_troubles_tell(&self->troubles, catalog, self->tape, self->findings);
  td_find_kept_learn(&self->kept, catalog);
  td_find_orders_learn(&self->orders, catalog);
  td_find_stale_learn(&self->stale, catalog);
  td_find_results_learn(&self->results, catalog);
  td_find_roots_learn(&self->roots, catalog);
  td_find_slices_learn(&self->slices, catalog);
  td_find_unreached_learn(&self->unreached, catalog);
  td_find_losses_learn(&self->losses, catalog, first, end);
  td_find_gil_learn(&self->gil, catalog);
  td_find_ranks_learn(&self->ranks, self->tape, catalog);
  td_find_leaves_learn(&self->leaves, catalog);
  td_find_zeros_learn(&self->zeros, catalog);
  if (self->depth >= DEPTH_TOLD && !self->deepest.line)
    self->deepest.line = td_finding_line(td_catalog_node_find(catalog, self->deepest.node));
  return TD_OK;
}

static void
tell_depth(looking *self) {
  if (self->depth < DEPTH_TOLD) return;
  self->deepest.text =
      td_format(td_translate("Calls of backward lay %u deep inside one another."), self->depth);
  self->deepest.advice =
      td_format(td_translate("The engine gives those deeper than %d to other threads. If the "
                             "node that waits holds a lock that they need, the program "
                             "hangs."),
                TD_MAX_DEPTH);
  td_findings_add(self->findings, self->deepest);
  self->deepest = (td_finding){0};
}

/* A few results may be left over. What was left out of the recording may have reached them. */
static void
tell_unreached(looking *self) {
  const td_event_graphs_unreached *event = &self->unreached_graphs;
  if (event->count < RESULTS_TOLD || self->has_gaps) return;
  char *place = event->stack ? td_source_place(td_tape_string(self->tape, event->stack)) : NULL;
  td_findings_add(
      self->findings,
      (td_finding){.kind = TD_FINDING_graphs_unreached,
                   .seq = self->unreached_seq,
                   .node = TD_NONE,
                   .n = 1,
                   .text = td_format(td_translate("When the program ended, it still had %u results "
                                                  "of %s whose graphs no backward pass reached."),
                                     event->count, td_tape_string(self->tape, event->name)),
                   .advice = td_dup_string(td_translate(
                       "Each keeps what its operations saved. Validation needs no graph: compute "
                       "under torch.no_grad(), or keep item() or detach() of the result.")),
                   .line = place ? td_line_make(place, TD_NAME_SHOWN) : NULL});
}

#define IDLE_PASSES 3u

/* Gradients alone may be what a program wants. But then it makes no optimizer. */
static void
tell_idle(looking *self) {
  const td_event_optimizer_idle *event = &self->idle;
  uint32_t n_passes = self->kept.n ? self->kept.n - 1 : 0;
  if (!event->parameters || n_passes < IDLE_PASSES || self->findings->status || self->has_gaps)
    return;
  td_findings_add(
      self->findings,
      (td_finding){
          .kind = TD_FINDING_optimizer_idle,
          .seq = self->idle_seq,
          .node = TD_NONE,
          .n = 1,
          .text = td_format(
              td_translate("An optimizer (%s) has %u parameters with gradients, and never "
                           "made a step. %u backward passes ran."),
              td_tape_string(self->tape, event->name), event->parameters, n_passes),
          .advice = td_dup_string(td_translate(
              "No optimizer that made steps has them. Call step() after backward(), unless "
              "the program changes them itself. GradScaler leaves steps out too, as long as "
              "gradients are not finite."))});
}

/* One mistake is one finding. A birth that was found says more than what it led to. */
static void
tell_nonfinite(looking *self) {
  for (uint32_t i = 0; i < self->findings->n; i++)
    if (self->findings->items[i].kind == TD_FINDING_nonfinite) return;
  char *leaves = td_find_leaves_dup_nonfinite(&self->leaves, self->tape);
  if (td_find_roots_has_bad(&self->roots))
    td_find_roots_tell(&self->roots, leaves, self->findings);
  else
    td_find_leaves_tell_nonfinite(&self->leaves, self->tape, self->findings);
  free(leaves);
}

static void
tell(looking *self) {
  tell_nonfinite(self);
  td_find_troubles_finish(&self->troubles, self->findings);
  td_find_unreached_tell(&self->unreached, td_find_leaves_replaced(&self->leaves, self->tape),
                         self->tape, self->findings);
  td_find_hooks_tell(&self->hooks, self->tape, self->findings);
  td_find_kept_tell(&self->kept, self->findings);
  td_find_orders_tell(&self->orders, self->findings);
  td_find_leaves_tell(&self->leaves, self->tape, self->findings);
  td_find_zeros_tell(&self->zeros, &self->leaves, self->tape, self->findings);
  td_find_stale_tell(&self->stale, self->tape, self->findings);
  td_find_results_tell(&self->results, self->findings);
  td_find_slices_tell(&self->slices, self->findings);
  td_find_losses_tell(&self->losses, self->findings);
  td_find_failure_tell(&self->failure, self->tape,
                       td_find_lines_text(&self->lines, self->tape, self->failure.event.stack),
                       self->findings);
  tell_idle(self);
  td_find_gil_tell(&self->gil, self->findings);
  td_find_ranks_tell(&self->ranks, self->findings);
  tell_unreached(self);
  tell_depth(self);
  self->findings->n_left_out += self->troubles.n_left_out;
  td_findings_finish(self->findings);
  td_find_places_tell(&self->places, self->has_processes, self->findings);
  td_find_lines_tell(&self->lines, self->tape, self->findings);
  for (uint32_t i = 0; i < self->findings->n && !self->has_stacks; i++)
    self->findings->lacks_lines |= !self->findings->items[i].line;
}

static void
fini(looking *self) {
  td_find_troubles_fini(&self->troubles);
  td_find_hooks_fini(&self->hooks);
  td_find_kept_fini(&self->kept);
  td_find_orders_fini(&self->orders);
  td_find_places_fini(&self->places);
  td_find_lines_fini(&self->lines);
  td_find_unreached_fini(&self->unreached);
  td_find_leaves_fini(&self->leaves);
  td_find_zeros_fini(&self->zeros);
  td_find_stale_fini(&self->stale);
  td_find_results_fini(&self->results);
  td_find_roots_fini(&self->roots);
  td_find_slices_fini(&self->slices);
  td_find_losses_fini(&self->losses);
  td_find_gil_fini(&self->gil);
  td_find_ranks_fini(&self->ranks);
  td_number_map_fini(&self->outermost);
  free(self->deepest.line);
}

td_status
td_findings_make(td_tape *tape, td_findings *findings, td_error *error) {
  looking self = {.tape = tape, .findings = findings, .leaves.tape = tape, .zeros.tape = tape};
  td_catalog_along along = {.listener = event_cb, .data = &self};
  *findings = (td_findings){.looked_for = ""};
  td_status status = td_catalog_visit_along(tape, &along, visit_segment, error);
  if (!status) status = td_find_rules(tape, findings, error);
  if (!status) status = td_find_surprises(tape, findings, error);
  if (!status) tell(&self);
  fini(&self);
  return status;
}
