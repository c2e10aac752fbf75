/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/anomaly.h"

#include "engine/base/alloc.h"
#include "engine/base/numbers.h"
#include "engine/control/gate.h"
#include "engine/events/emit.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/now.h"
#include "engine/torch/graph/warnings.h"

void
td_anomaly_note(unsigned before, unsigned after, const td_birth *birth) {
  unsigned wanted = atomic_load_explicit(&td_anomaly_wanted, memory_order_relaxed);
  unsigned fresh = td_numbers_born(before, after) & wanted;
  if (!fresh) return;
  TD_EMIT(anomaly, .kind = fresh & TD_NUMBERS_NAN ? TD_anomaly_kind_nan : TD_anomaly_kind_inf,
          .born = birth->place, .node = td_node_id(birth->node),
          .graph_task = td_graph_task_now_id(), .number = birth->number, .from = birth->from,
          .from_output_nr = birth->from_output_nr, .other = birth->other,
          .other_output_nr = birth->other_output_nr, .hook = td_intern(birth->hook));
  td_gate_note(fresh & TD_NUMBERS_NAN ? TD_TROUBLE_NAN : TD_TROUBLE_INF, td_node_id(birth->node));
}

void
td_anomaly_carry(const td_node *from, const td_node *to, uint32_t graph_task, unsigned found,
                 uint64_t stamp) {
  if (TD_LIKELY(!found)) return;
  TD_EMIT_AT(stamp, carried, .node = td_node_id(to), .graph_task = graph_task,
             .from = td_node_id(from), .nan = (found & TD_NUMBERS_NAN) != 0,
             .inf = (found & TD_NUMBERS_INF) != 0);
}

/* Within a pass the outputs of the node that runs are looked at instead. */
static bool
is_forward(void) {
  return td_anomaly_is_on() && !td_graph_task_now();
}

static void
note_operand(td_node *node, uint32_t operand, unsigned found) {
  if (!found || operand >= node->n_outputs) return;
  if (!node->forward.operands) node->forward.operands = TD_NEW_N(uint8_t, node->n_outputs);
  node->forward.operands[operand] = (uint8_t)found;
}

void
td_anomaly_begin_forward(td_node *node, td_tensor *const *operands, uint32_t n_operands) {
  if (!is_forward()) return;
  for (uint32_t i = 0; i < n_operands; i++) {
    unsigned found = operands[i] ? td_anomaly_look(operands[i]) : 0;
    bool from_outside = operands[i] && !td_grad_fn(operands[i]);
    if (from_outside && found & ~node->forward.found) {
      node->forward.came_in |= (uint8_t)found;
      node->forward.operand_nr = (uint16_t)TD_MIN(i, (uint32_t)UINT16_MAX);
    }
    node->forward.found |= (uint8_t)found;
    note_operand(node, i, found);
  }
}

static void
tell_operands(td_node *node) {
  uint8_t *operands = node->forward.operands;
  for (uint32_t i = 0; operands && i < node->n_outputs; i++)
    if (node->next_edges[i].node)
      td_anomaly_carry(node->next_edges[i].node, node, TD_NONE, operands[i], td_emit_last_time());
  free(operands);
  node->forward.operands = NULL;
}

void
td_anomaly_end_forward(td_node *node, td_tensor *const *results, uint32_t n_results) {
  if (!is_forward()) return;
  tell_operands(node);
  unsigned before = node->forward.found;
  td_anomaly_note(
      before & ~node->forward.came_in, before,
      TD_BIRTH(.place = TD_birthplace_data, .node = node, .number = node->forward.operand_nr));
  for (uint32_t i = 0; i < n_results; i++) {
    unsigned found = results[i] ? td_anomaly_look(results[i]) : 0;
    td_anomaly_note(before, found,
                    TD_BIRTH(.place = TD_birthplace_forward, .node = node, .number = i));
    node->forward.found |= (uint8_t)found;
  }
}

/* "1th" and "2th" too: PyTorch writes "th" after every number. */
td_status
td_anomaly_raise(const td_node *node, uint32_t output_nr, unsigned found, td_error *error) {
  if (!(found & TD_NUMBERS_NAN) || !(td_anomaly_mode() && td_anomaly_mode_checks_nan()))
    return TD_OK;
  return td_error_set(error, TD_ANOMALY, "Function '%s' returned nan values in its %uth output.",
                      td_node_name(node), output_nr);
}

void
td_anomaly_print_stacks(td_node *node) {
  if (td_metadata_print_stacks(&node->metadata, node)) return;
  char *text = td_format("Error detected in %s. No forward pass information available. Enable "
                         "detect anomaly during forward pass for more information.",
                         td_node_name(node));
  td_warn(node, text);
  free(text);
}
