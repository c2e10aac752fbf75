/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_stale.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>
#include <string.h>

#define FORGOTTEN_TOGETHER 256u /* nodes, at least */
#define VIEWS_FOLLOWED 8        /* one upon the other */
#define STALE_RUNS 2u           /* each after another step: once may be on purpose */

typedef enum td_role { ROLE_LEAF = 1, ROLE_VIEW, ROLE_OTHER } td_role;

/* A view has its base's memory, so its value is never old. */
static td_role
role_of(const char *name) {
  static const char *const views[] = {
      "TBackward",           "TransposeBackward", "PermuteBackward", "ViewBackward",
      "AliasBackward",       "ExpandBackward",    "SelectBackward",  "SliceBackward",
      "SqueezeBackward",     "UnsqueezeBackward", "SplitBackward",   "UnbindBackward",
      "NarrowBackward",      "AsStridedBackward", "DetachBackward",  "UnsafeViewBackward",
      "ChunkBackward",       "DiagonalBackward",  "UnfoldBackward",  "ViewAsRealBackward",
      "ReshapeAliasBackward"};
  if (strcmp(name, "torch::autograd::AccumulateGrad") == 0 || strcmp(name, "AccumulateGrad") == 0)
    return ROLE_LEAF;
  for (size_t i = 0; i < TD_N_ELEMENTS(views); i++)
    if (strncmp(name, views[i], strlen(views[i])) == 0) return ROLE_VIEW;
  return ROLE_OTHER;
}

static td_made_of *
find(const td_find_stale *self, uint32_t node) {
  const uint64_t *number = td_number_map_find(&self->numbers, node);
  return number && *number ? &self->items[*number - 1] : NULL;
}

static uint32_t
obtain_item(td_find_stale *self) {
  if (self->n_unused) return self->unused[--self->n_unused];
  TD_GROW(self->items, self->n, self->capacity);
  return self->n++;
}

static void
forget_some(td_find_stale *self) {
  if (self->numbers.n < self->forgotten_at) return;
  td_number_map_forget_zeros(&self->numbers);
  self->forgotten_at = TD_MAX(2 * self->numbers.n, FORGOTTEN_TOGETHER);
}

void
td_find_stale_make(td_find_stale *self, const td_event_node_new *event, const char *name) {
  if (find(self, event->node)) return;
  forget_some(self);
  uint32_t number = obtain_item(self);
  self->items[number] =
      (td_made_of){.node = event->node, .role = (uint8_t)role_of(name), .made = self->n_steps};
  *td_number_map_put(&self->numbers, event->node) = 1 + (uint64_t)number;
}

void
td_find_stale_link(td_find_stale *self, const td_event_edge_new *event) {
  td_made_of *item = find(self, event->from);
  if (item && item->n_to < TD_N_ELEMENTS(item->to)) item->to[item->n_to++] = event->to;
}

void
td_find_stale_free_node(td_find_stale *self, uint32_t node) {
  uint64_t *number = td_number_map_find(&self->numbers, node);
  if (!number || !*number) return;
  TD_GROW(self->unused, self->n_unused, self->unused_capacity);
  self->unused[self->n_unused++] = (uint32_t)*number - 1;
  *number = 0;
}

/* The leaf that a node is, or is a view of, or TD_NONE. */
static uint32_t
leaf_at(const td_find_stale *self, uint32_t node) {
  const td_made_of *item = find(self, node);
  for (int i = 0; item && item->role == ROLE_VIEW && item->n_to && i < VIEWS_FOLLOWED; i++)
    item = find(self, item->to[0]);
  return item && item->role == ROLE_LEAF ? item->node : TD_NONE;
}

void
td_find_stale_step(td_find_stale *self, uint32_t optimizer) {
  *td_number_map_put(&self->last_step, optimizer) = ++self->n_steps;
}

static void
note(td_find_stale *self, const td_made_of *item, uint32_t label, uint64_t seq) {
  if (item->n_runs == STALE_RUNS && !self->n_found++) {
    self->label = label;
    self->first = (td_finding){.kind = TD_FINDING_stale_node, .seq = seq, .node = item->node};
  }
  if (self->first.node == item->node) self->n_runs = item->n_runs;
}

/* The last step of the optimizer that has a leaf, or 0. */
static uint64_t
last_step(const td_find_stale *self, const td_find_leaves *leaves, uint32_t leaf) {
  uint32_t owner = leaf == TD_NONE ? 0 : td_find_leaves_owner(leaves, leaf);
  const uint64_t *step = owner ? td_number_map_find(&self->last_step, owner - 1) : NULL;
  return step ? *step : 0;
}

void
td_find_stale_run(td_find_stale *self, const td_find_leaves *leaves, uint32_t node, uint64_t seq) {
  td_made_of *item = self->n_steps ? find(self, node) : NULL;
  if (!item || item->role != ROLE_OTHER || item->made == self->n_steps) return;
  for (uint32_t i = 0; i < item->n_to; i++) {
    uint32_t leaf = leaf_at(self, item->to[i]);
    uint64_t step = last_step(self, leaves, leaf);
    if (step <= item->made || step == item->ran) continue;
    item->ran = step;
    item->n_runs++;
    return note(self, item, td_find_leaves_label_of(leaves, leaf), seq);
  }
}

void
td_find_stale_learn(td_find_stale *self, const td_catalog *catalog) {
  const td_catalog_node *facts =
      self->n_found && !self->first.text ? td_catalog_node_find(catalog, self->first.node) : NULL;
  if (!facts) return;
  self->first.text = td_why_name_node_of(facts);
  self->first.line = td_finding_line(facts);
}

void
td_find_stale_tell(td_find_stale *self, td_tape *tape, td_findings *findings) {
  if (!self->first.text) return;
  char *name = self->first.text;
  char *label = td_line_dup(td_tape_string(tape, self->label), TD_NAME_SHOWN);
  self->first.text =
      td_format(td_translate("%s was made of %s once, and ran again after %u or more "
                             "later steps of the optimizer that changes %s."),
                name, label, self->n_runs, label);
  self->first.n = self->n_found;
  self->first.advice = td_dup_string(
      td_translate("It has a copy of the parameter's value from before these steps, so the loss is "
                   "computed with an old value. Make the copy anew in each step. A cache of "
                   "autocast around the whole loop, or a result that was kept outside of the loop, "
                   "does that."));
  free(label);
  free(name);
  td_findings_add(findings, self->first);
  self->first = (td_finding){0};
}

void
td_find_stale_fini(td_find_stale *self) {
  free(self->items);
  free(self->unused);
  free(self->first.text);
  free(self->first.line);
  td_number_map_fini(&self->numbers);
  td_number_map_fini(&self->last_step);
  *self = (td_find_stale){0};
}
