/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/cut_history.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/torch/graph/accumulate_grad.h"
#include "engine/torch/graph/autograd_meta.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/now.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"

#define WALKED 10000u /* nodes, at most */

static bool
is_wanted(void) {
  return td_cuts_wanted() && !td_graph_task_now();
}

/* Nodes by address, each once, in the order in which the walk met them. */
static void
meet(td_number_map *met, const td_node *node) {
  if (node && met->n < WALKED) td_number_map_put(met, (uintptr_t)node);
}

static void
note(td_tensor *leaf, td_cut cut) {
  td_cuts_note(td_tensor_counter_id(leaf), cut);
}

void
td_cut_history(const td_tensor *tensor, td_cut_kind kind) {
  if (!is_wanted() || !tensor->autograd) return;
  td_number_map met = {0};
  td_cut cut = {kind, td_version_stack()};
  meet(&met, tensor->autograd->grad_fn);
  for (uint32_t i = 0; i < met.n; i++) {
    const td_node *node = (const td_node *)(uintptr_t)met.entries[i].key;
    td_tensor *leaf = td_accumulate_grad_variable(node);
    if (leaf) note(leaf, cut);
    for (uint32_t k = 0; k < node->n_outputs; k++)
      meet(&met, node->next_edges[k].node);
  }
  td_number_map_fini(&met);
}

void
td_cut_inputs(td_tensor *const *inputs, uint32_t n_inputs) {
  if (!is_wanted()) return;
  td_cut cut = {TD_cut_kind_no_grad, UINT32_MAX};
  for (uint32_t i = 0; i < n_inputs; i++) {
    if (!inputs[i] || !td_requires_grad(inputs[i]) || !td_is_leaf(inputs[i])) continue;
    if (cut.stack == UINT32_MAX) cut.stack = td_version_stack();
    note(inputs[i], cut);
  }
}

td_cut
td_cut_of(const td_tensor *leaf) {
  return td_cuts_find(td_tensor_counter_id(leaf));
}
