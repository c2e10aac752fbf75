/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Losses of PyTorch that get what they do not take: probabilities for scores, or results that were
 * spread over all targets. The graph shows it. Private to engine/profile/findings.
 * Zero-initialise. */
#pragma once

#include "engine/profile/findings/finding.h"

typedef enum td_loss_mistake {
  TD_LOSS_SOFTMAX_TWICE,
  TD_LOSS_SIGMOID_TWICE,
  TD_LOSS_NO_LOGARITHM,
  TD_LOSS_SPREAD,
  TD_N_LOSS_MISTAKES
} td_loss_mistake;

typedef struct td_loss_found {
  uint32_t n;        /* losses */
  uint32_t node;     /* the first one */
  uint64_t seq;      /* that made it */
  char *name, *line; /* (owned) of it */
  char *of;          /* (owned) the node that made its operand */
  char *shapes[2];   /* (owned) TD_LOSS_SPREAD: before, and after */
} td_loss_found;

typedef struct td_find_losses {
  td_loss_found found[TD_N_LOSS_MISTAKES];
} td_find_losses;

/* td_find_losses_learn looks at the nodes of a segment that events from `first` up to `end` made.
 */
void td_find_losses_learn(td_find_losses *self, const td_catalog *catalog, uint64_t first,
                          uint64_t end);
void td_find_losses_tell(const td_find_losses *self, td_findings *findings);
void td_find_losses_fini(td_find_losses *self);
