/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_results.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>

static void
forget_names(td_find_results *self) {
  free(self->root_name);
  free(self->node_name);
  free(self->line);
  self->root_name = self->node_name = self->line = NULL;
}

void
td_find_results_begin_pass(td_find_results *self, const td_event_graph_task_begin *event) {
  if (event->depth) return;
  self->n = 0;
  self->graph_task = event->graph_task;
  self->root = event->root;
  self->is_over = false;
  forget_names(self);
}

void
td_find_results_want(td_find_results *self, const td_event_exec_info *event) {
  if (event->graph_task != self->graph_task || !event->captures) return;
  TD_GROW(self->wanted, self->n, self->capacity);
  self->wanted[self->n++] = event->node;
}

void
td_find_results_take(td_find_results *self, const td_event_capture *event) {
  if (event->graph_task != self->graph_task) return;
  for (uint32_t i = 0; i < self->n; i++)
    if (self->wanted[i] == event->node) {
      self->wanted[i] = self->wanted[--self->n];
      return;
    }
}

void
td_find_results_end_pass(td_find_results *self, const td_event_graph_task_end *event,
                         uint64_t seq) {
  if (event->graph_task != self->graph_task) return;
  self->is_over = event->status == TD_task_status_ok;
  self->seq = seq;
}

void
td_find_results_learn(td_find_results *self, const td_catalog *catalog) {
  if (!self->n || self->node_name) return;
  self->node_name = td_why_name_node(catalog, self->wanted[0]);
  self->root_name = td_why_name_node(catalog, self->root);
  self->line = td_finding_line(td_catalog_node_find(catalog, self->root));
}

void
td_find_results_tell(const td_find_results *self, td_findings *findings) {
  if (!self->n || !self->is_over || !findings->status || !self->node_name) return;
  td_findings_add(
      findings,
      (td_finding){
          .kind = TD_FINDING_result_unreached,
          .seq = self->seq,
          .node = self->wanted[0],
          .n = self->n,
          .text = td_format(td_translate("The last pass before the program failed was to give the "
                                         "gradient at %s, but no path leads there from %s."),
                            self->node_name, self->root_name),
          .advice = td_dup_string(td_translate(
              "grad() refuses such a tensor unless allow_unused=True. Either the loss does not "
              "depend on it, or only by a derivative that is constant: the second derivative of a "
              "linear function is zero everywhere.")),
          .line = self->line ? td_dup_string(self->line) : NULL});
}

void
td_find_results_fini(td_find_results *self) {
  free(self->wanted);
  forget_names(self);
  *self = (td_find_results){0};
}
