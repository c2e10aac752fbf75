/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What numerics.c and forward.c share. */
#pragma once

#include "engine/probe/numerics.h"

typedef struct td_birth {
  td_birthplace place;
  uint32_t node, graph_task, number;
  uint32_t from, from_output_nr, other, other_output_nr; /* of a sum; else TD_NONE */
  uint32_t hook;                                         /* an interned string */
} td_birth;

/* td_birth_note compares what was found in the ingredients with what is found in the result, and
 * emits an `anomaly` if a kind that is wanted is new. */
void td_birth_note(unsigned before, unsigned after, const td_birth *birth);

/* td_numerics_found_forward returns what the operation that made a node was given or gave. */
unsigned td_numerics_found_forward(uint32_t node);

/* td_numerics_forget_forward forgets the ids of nodes, not what waits for a node to get one: the
 * forward pass is before the first recorded backward pass. */
void td_numerics_forget_forward(void);
