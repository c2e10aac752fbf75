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

#define TD_OPERATIONS_API __attribute__((visibility("default")))

/* What an operation found: bits of td_numbers_look. Its thread and its sequence number there say
 * which node it makes. */
typedef struct td_operation {
  uint64_t thread, sequence_nr;
  unsigned before;     /* in its operands */
  unsigned came_in;    /* in those operands that have no history */
  unsigned after;      /* in its results */
  uint32_t operand_nr; /* the first operand that has one */
  uint32_t result_nr;  /* the first result that has one */
} td_operation;

/* td_operations_note keeps an operation until its node has an id. With if_new, what was kept of the
 * same operation before stays. A newer operation may take the place of an old one. */
TD_OPERATIONS_API void td_operations_note(const td_operation *operation, bool if_new);

/* td_operations_announce: a node of a walk through the graph has an id now. td_operations_tell ends
 * the walk: it emits the births of these nodes' operations, in the order in which each thread made
 * the nodes. Nobody else may walk meanwhile. */
TD_OPERATIONS_API void td_operations_announce(uint32_t node, uint64_t thread, uint64_t sequence_nr);
TD_OPERATIONS_API void td_operations_tell(void);

/* td_operations_found returns the bits that a node's operation found, before and after. */
unsigned td_operations_found(uint32_t node);

/* td_operations_forget_nodes forgets the ids of nodes. Operations that wait for an id stay: the
 * forward pass comes before the first recorded backward pass. */
void td_operations_forget_nodes(void);

#ifdef __cplusplus
}
#endif
