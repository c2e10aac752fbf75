/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Contributions: which outputs are on their way to which inputs, and what was seen in them: so that
 * a sum can be held against its parts when it arrives. Any thread. Private to numerics.c. */
#pragma once

#include "engine/probe/numerics.h"

typedef struct td_contribution td_contribution;
struct td_contribution {
  uint32_t graph_task, node, input_nr; /* to whom */
  uint32_t from, output_nr;            /* from whom */
  bool hooked;                         /* post hooks of the sender may have changed it since */
  td_numerics_seen seen;
  td_contribution *next;
};

/* td_contribution_add keeps a copy and returns it: it stays until it is taken. */
td_contribution *td_contribution_add(const td_contribution *contribution);

/* td_contributions_take returns all that went to a node, in order of arrival; the caller gives the
 * list back with td_contributions_free. td_contributions_drop drops those of a graph task, or of
 * all (TD_NONE), then also in the child of a fork. */
td_contribution *td_contributions_take(uint32_t graph_task, uint32_t node);
void td_contributions_free(td_contribution *list);
void td_contributions_drop(uint32_t graph_task);
