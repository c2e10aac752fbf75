/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a NaN or an infinity is born: in a value none of whose ingredients had one. PyTorch's
 * anomaly mode looks at the outputs of nodes alone. But +Inf and -Inf may meet in an input buffer,
 * so this looks at every sum, every hook and the forward pass too. Any thread. "Found" are bits of
 * td_numbers_look. */
#pragma once

#include "engine/torch/graph/anomaly_mode.h"
#include "engine/torch/graph/node.h"

/* A place where something may have been born, and who brought what into it. */
typedef struct td_birth {
  td_birthplace place;
  const td_node *node;
  uint32_t number; /* as event `anomaly` says for each place */
  uint32_t from, from_output_nr, other, other_output_nr; /* nodes' ids, of a sum; else TD_NONE */
  const char *hook;                                      /* (borrowed) its owner, or NULL */
} td_birth;
#define TD_BIRTH(...) (&(const td_birth){.from = TD_NONE, .other = TD_NONE, __VA_ARGS__})

/* td_anomaly_note compares what was found in the ingredients with what is found in the result. It
 * emits an `anomaly` if a wanted kind was born (td_numbers_born). If both kinds were born, it tells
 * the NaN. */
void td_anomaly_note(unsigned before, unsigned after, const td_birth *birth);

/* td_anomaly_carry says that `from` gave `to` a value that is not finite, if that was found: in a
 * pass a gradient, else a value of the forward pass, with TD_NONE for the graph task. `stamp` is
 * for TD_EMIT_AT. */
void td_anomaly_carry(const td_node *from, const td_node *to, uint32_t graph_task, unsigned found,
                      uint64_t stamp);

/* td_anomaly_begin_forward and td_anomaly_end_forward look at the operands and the results of an
 * operation that makes a node. What only the results have was born there. What an operand without a
 * grad_fn has came in there. What another one has was carried there. Both do nothing within a
 * backward pass. Call the end after the node was announced. */
void td_anomaly_begin_forward(td_node *node, td_tensor *const *operands, uint32_t n_operands);
void td_anomaly_end_forward(td_node *node, td_tensor *const *results, uint32_t n_results);

/* td_anomaly_raise is the error with which PyTorch's anomaly mode ends a pass. TD_OK unless that
 * mode is on, checks for NaN, and this output of the node has one. */
td_status td_anomaly_raise(const td_node *node, uint32_t output_nr, unsigned found,
                           td_error *error);

/* td_anomaly_print_stacks warns of an error in this node, and says where the forward pass made the
 * node. For the first error of a pass, in anomaly mode. */
void td_anomaly_print_stacks(td_node *node);
