/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Why two tapes part. At the first place where their order differs: what each side had ready, and
 * why it took the node that it took. Then the cause of the difference, if the tapes show it. */
#pragma once

#include "engine/profile/diff/align.h"

/* TD_ALIGN_CAUSE(name): words of `diff --json`; append only. */
#define TD_ALIGN_CAUSES(X)                                                                         \
  X(unknown) /* the tapes do not have the pops */                                                  \
  X(only_a)  /* the node of A is nowhere in B's pass */                                            \
  X(only_b)                                                                                        \
  X(other_node)  /* both at once */                                                                \
  X(device)      /* the same node ran on another device */                                         \
  X(readiness)   /* what one side took was not ready on the other */                               \
  X(queue_order) /* one queue is a heap, the other fifo or lifo */                                 \
  X(sequence)    /* the forward passes created the two nodes in another order */                   \
  X(tie)         /* equal sequence numbers: they entered the heap in another order */              \
  X(out_of_turn) /* one side did not take the node that goes first */                              \
  X(choice)      /* a user or a schedule chose the node that one side took */

typedef enum td_align_cause {
#define X(name) TD_ALIGN_CAUSE_##name,
  TD_ALIGN_CAUSES(X)
#undef X
      TD_N_ALIGN_CAUSES
} td_align_cause;

/* td_align_cause_name returns "tie", "readiness", ... */
const char *td_align_cause_name(td_align_cause cause);

/* One side of it. */
typedef struct td_divergence_side {
  uint32_t graph_task;
  bool has_node; /* else it has no more */
  td_visited_node node;
  uint32_t *ready; /* (owned) nodes in the queue at that pop, in pop order, the popped one first */
  uint32_t n_ready;
  char *why; /* (owned) td_why_pop's words, or NULL without a pop */
} td_divergence_side;

typedef struct td_divergence {
  td_align_cause cause;
  uint32_t position; /* in the lane, from 0 */
  td_divergence_side a, b;
  char *device, *device_label; /* (owned) of the lane: its name, and that as one line */
  char *text;                  /* (owned) the cause in a sentence */
} td_divergence;

/* td_divergence_explain looks into both tapes at the divergence of two passes that are not equal.
 * It replays the windows in which they are, and reads the tapes' files anew. An error names the
 * tape. */
td_status td_divergence_explain(const td_align *align, const char *path_a, const char *path_b,
                                td_divergence *divergence, td_error *error);
void td_divergence_fini(td_divergence *divergence);
