/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Contributions: outputs on their way to inputs, and what the probe found in them. When a sum
 * arrives, the probe compares it with its parts. Any thread. Private to the probe. */
#pragma once

#include "engine/probe/gradient.h"

#include <stdbool.h>

typedef struct td_contribution td_contribution;
struct td_contribution {
  uint32_t graph_task, node, input_nr; /* to whom */
  uint32_t from, output_nr;            /* from whom */
  bool hooked;                         /* the sender's post hooks may have changed it since */
  td_numerics_seen seen;
  td_contribution *next;
};

/* td_contribution_add keeps a copy and returns it. The copy lives until somebody takes it. */
td_contribution *td_contribution_add(const td_contribution *contribution);

/* td_contributions_take returns all that went to a node, in order of arrival. The caller gives the
 * list back with td_contributions_free. */
td_contribution *td_contributions_take(uint32_t graph_task, uint32_t node);
void td_contributions_free(td_contribution *list);

/* td_contributions_drop drops those of a graph task, or all (TD_NONE). */
void td_contributions_drop(uint32_t graph_task);
