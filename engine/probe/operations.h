/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations of the forward pass that met or made a value that is not finite. An operation ends
 * before its node has an id, so it waits here for the node. Any thread. Read by C and C++. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* So many operands of an operation that bring such a value are kept. */
#define TD_OPERATION_OPERANDS 8

#define TD_OPERATIONS_API __attribute__((visibility("default")))

/* What made an operand: a node by thread and sequence number; or thread 0, and a leaf that requires
 * a gradient by its address. */
typedef struct td_operand {
  uint64_t thread, number;
  unsigned found; /* bits of td_numbers_look */
  uint32_t nr;    /* among the operands */
} td_operand;

/* What an operation found: bits of td_numbers_look. Its thread and its sequence number there say
 * which node it makes. */
typedef struct td_operation {
  uint64_t thread, sequence_nr;
  unsigned before;     /* in its operands */
  unsigned came_in;    /* in those operands that have no history */
  unsigned after;      /* in its results */
  uint32_t operand_nr; /* the first operand that has one */
  uint32_t result_nr;  /* the first result that has one */
  uint32_t n_operands; /* with a history or of such leaves, that have one */
  td_operand operands[TD_OPERATION_OPERANDS];
} td_operation;

/* td_operations_note keeps an operation until its node has an id. With if_new, what was kept of the
 * same operation before stays. A newer operation may take the place of an old one. */
TD_OPERATIONS_API void td_operations_note(const td_operation *operation, bool if_new);

/* td_operations_announce: a node of a walk through the graph has an id now. Returns NULL, or what
 * its operation found, until the walk ends: then the caller calls td_operations_edge for each of
 * the node's edges, with what made the operand there. td_operations_tell ends the walk from `root`:
 * it emits the births of these nodes' operations, in the order in which each thread made the nodes,
 * and which node handed such a value on. Nobody else may walk meanwhile. */
TD_OPERATIONS_API const td_operation *td_operations_announce(uint32_t node, uint64_t thread,
                                                             uint64_t sequence_nr);
TD_OPERATIONS_API void td_operations_edge(uint32_t to, uint64_t thread, uint64_t number);
TD_OPERATIONS_API void td_operations_tell(uint32_t root);

/* td_operations_stored: a gradient that is not finite is about to be stored into a leaf, which has
 * this address, by its AccumulateGrad. */
TD_OPERATIONS_API void td_operations_stored(uint64_t leaf, uint32_t node);

/* td_operations_has_birth tells whether an operation made or took in a value that is looked for. */
TD_OPERATIONS_API bool td_operations_has_birth(const td_operation *operation);

/* td_operations_found returns the bits that a node's operation found, before and after. */
unsigned td_operations_found(uint32_t node);

/* td_operations_forget_nodes forgets the ids of nodes. Operations that wait for an id stay: the
 * forward pass comes before the first recorded backward pass. */
void td_operations_forget_nodes(void);

#ifdef __cplusplus
}
#endif
