/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_kept.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/source_place.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>

#define KEPT 3 /* periods more than ever in the first half: a program may need some at once */

static void
begin_period(td_find_kept *self) {
  TD_GROW(self->periods, self->n, self->capacity);
  self->periods[self->n++] = (td_period){.first_node = self->next_node, .root = TD_NONE};
}

/* Nodes of a period after the first begin to live (1), or the last one goes (-1). */
static void
count_alive(td_find_kept *self, const td_period *period, int sign) {
  self->n_alive += (uint32_t)sign;
  if (period->creates_graph) self->n_alive_creating += (uint32_t)sign;
}

void
td_find_kept_make(td_find_kept *self, const td_event_node_new *event) {
  uint32_t node = event->node;
  if (event->sequence_nr == UINT64_MAX) *td_number_map_put(&self->leaves, node) = 1;
  if (!self->n) begin_period(self);
  td_period *period = &self->periods[self->n - 1];
  self->is_confused |= node < period->first_node;
  if (self->is_confused) return;
  self->next_node = TD_MAX(self->next_node, node + 1);
  period->n_made++;
  bool counts = self->n > 1;
  if (counts && period->n_alive == 0) count_alive(self, period, 1);
  if (counts) self->n_nodes++;
  period->n_alive++;
}

/* The period that made a node, or NULL. */
static td_period *
find_period(td_find_kept *self, uint32_t node) {
  if (self->is_confused || !self->n || node >= self->next_node) return NULL;
  uint32_t after;
  TD_BISECT(after, 0, self->n, self->periods[after].first_node <= node);
  return after ? &self->periods[after - 1] : NULL;
}

void
td_find_kept_begin_pass(td_find_kept *self, const td_event_graph_task_begin *event) {
  self->n_again_now = 0;
  if (!self->n) return;
  td_period *period = &self->periods[self->n - 1];
  if (period->creates_graph || !event->create_graph || !event->accumulate_grad) return;
  period->creates_graph = true;
  if (self->n > 1 && period->n_alive) self->n_alive_creating++;
}

/* Those of the first period, and of the last two before this one, are not looked at. */
void
td_find_kept_run(td_find_kept *self, uint32_t node) {
  const td_period *period = find_period(self, node);
  bool counts = period && period != self->periods && period + 2 < self->periods + self->n;
  const uint64_t *leaf = counts ? td_number_map_find(&self->leaves, node) : NULL;
  self->n_again_now += counts && !(leaf && *leaf);
}

void
td_find_kept_free(td_find_kept *self, uint32_t node) {
  td_period *period = find_period(self, node);
  uint64_t *leaf = td_number_map_find(&self->leaves, node);
  if (leaf) *leaf = 0;
  if (!period || !period->n_alive) return;
  period->n_alive--;
  if (period == self->periods) return;
  self->n_nodes--;
  if (period->n_alive == 0) count_alive(self, period, -1);
}

/* Two passes may still need what they have. */
static void
look(td_find_kept *self, uint64_t seq) {
  self->n_kept = self->n_alive;
  self->n_kept_nodes = self->n_nodes;
  self->n_creating = self->n_alive_creating;
  for (uint32_t i = self->n > 2 ? self->n - 2 : 1; i < self->n; i++) {
    self->n_kept -= self->periods[i].n_alive > 0;
    self->n_kept_nodes -= self->periods[i].n_alive;
    self->n_creating -= self->periods[i].creates_graph && self->periods[i].n_alive > 0;
  }
  self->n_again = self->n_again_now;
  self->lowest = TD_MAX(self->lowest, 1u);
  while (self->lowest < self->n && !self->periods[self->lowest].n_alive)
    self->lowest++;
  uint32_t example = self->lowest < self->n ? self->periods[self->lowest].root : TD_NONE;
  if (example != self->example) {
    free(self->name);
    free(self->line);
    self->name = self->line = NULL;
  }
  self->example = example;
  self->seq = seq;
}

void
td_find_kept_end_pass(td_find_kept *self, uint32_t root, uint64_t seq) {
  if (self->n) self->periods[self->n - 1].root = root;
  if (self->n) {
    look(self, seq);
    self->periods[self->n - 1].n_kept = self->n_kept;
  }
  td_number_map_forget_zeros(&self->leaves);
  begin_period(self);
}

void
td_find_kept_cycle(td_find_kept *self, td_tape *tape, const td_event_function_cycle *event) {
  if (event->count <= self->n_cycles) return;
  char *place = td_source_place(td_tape_string(tape, event->place));
  free(self->function);
  free(self->function_line);
  self->n_cycles = event->count;
  self->function = td_line_dup(td_tape_string(tape, event->name), TD_NAME_SHOWN);
  self->function_line = place ? td_line_make(place, TD_NAME_SHOWN) : NULL;
}

void
td_find_kept_learn(td_find_kept *self, const td_catalog *catalog) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, self->example);
  if (self->name || !facts || self->n_kept == 0) return;
  self->name = td_why_name_node_of(facts);
  self->line = td_finding_line(facts);
}

/* Inner loops, micro-batches and ensembles keep some graphs, but not more and more. */
static bool
has_grown(const td_find_kept *self) {
  uint32_t n_passes = self->n ? self->n - 1 : 0, most = 0;
  for (uint32_t i = 0; i < n_passes / 2; i++)
    most = TD_MAX(most, self->periods[i].n_kept);
  return self->n_kept >= most + KEPT;
}

/* What the tape shows of the reference. */
static char *
dup_advice(const td_find_kept *self) {
  if (self->n_cycles)
    return td_format(td_translate("%u contexts of %s keep the result of that custom Function, as "
                                  "ctx.result = result does. The result leads to its context, so "
                                  "neither is freed. Use ctx.save_for_backward(result)."),
                     self->n_cycles, self->function);
  if (self->n_again)
    return td_format(
        td_translate("The last pass ran %llu of them again: what it began at still depends on "
                     "them. The program carries a state on, or a sum, with its graph: detach it "
                     "between the passes."),
        (unsigned long long)self->n_again);
  if (self->n_creating)
    return td_format(
        td_translate("%u of these passes were calls of "
                     "backward(create_graph=True). The gradient of a leaf then has a graph that "
                     "leads back to the leaf, and neither is freed until its .grad is set to None: "
                     "do that after use, or call autograd.grad()."),
        self->n_creating);
  return td_dup_string(td_translate("The program still refers to them, as by a list "
                                    "of losses or of results: keep item() or detach() of each."));
}

void
td_find_kept_tell(const td_find_kept *self, td_findings *findings) {
  if (self->is_confused || !has_grown(self)) return;
  const char *form =
      self->name ? td_translate("At the end of the last backward pass, %llu nodes of the graphs of "
                                "%u earlier passes are still there, from that of %s on.")
                 : td_translate("At the end of the last backward pass, %llu nodes of the graphs of "
                                "%u earlier passes are still there.");
  char *text = td_format(form, (unsigned long long)self->n_kept_nodes, self->n_kept, self->name);
  const char *line = self->n_cycles ? self->function_line : self->line;
  td_findings_add(findings, (td_finding){.kind = TD_FINDING_graphs_kept,
                                         .seq = self->seq,
                                         .node = self->example,
                                         .n = 1,
                                         .text = text,
                                         .advice = dup_advice(self),
                                         .line = line ? td_dup_string(line) : NULL});
}

void
td_find_kept_fini(td_find_kept *self) {
  td_number_map_fini(&self->leaves);
  free(self->periods);
  free(self->name);
  free(self->line);
  free(self->function);
  free(self->function_line);
  *self = (td_find_kept){0};
}
