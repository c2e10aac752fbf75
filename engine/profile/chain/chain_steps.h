/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steps of a chain: how a moment of a tape came about, back to its cause. Plain data. */
#pragma once

#include "engine/events/event.h"

#include <stdbool.h>
#include <stddef.h>

/* TD_CHAIN_LINK(name): what leads from the step before to a step, in the words of `why --json`. */
#define TD_CHAIN_LINKS(X)                                                                          \
  X(moment) /* the first step: what the question is about */                                       \
  X(data)   /* the gradient came from this node over an edge */                                    \
  X(state)  /* a count changed because this node ended */                                          \
  X(wait)   /* a thread waited for a lock, or a node for the gradient of this node */              \
  X(queue)  /* the task came later because the task of this node ran before */                     \
  X(call)   /* this node called backward */                                                        \
  X(value)  /* a value that is not finite was born or written here */                              \
  X(end)    /* nothing leads further back, or nothing that the tape knows */

typedef enum td_chain_link {
#define X(name) TD_CHAIN_##name,
  TD_CHAIN_LINKS(X)
#undef X
      TD_N_CHAIN_LINKS
} td_chain_link;

/* TD_CHAIN_END(name): why a chain ends, in the words of `why --json`. */
#define TD_CHAIN_ENDS(X)                                                                           \
  X(pass)    /* the pass begins there */                                                           \
  X(born)    /* a value was born there */                                                          \
  X(forward) /* the forward pass made it */                                                        \
  X(unknown) /* the tape does not know more */                                                     \
  X(cut)     /* the segment that was read begins there */                                          \
  X(far)     /* Tapedeck looks at no more events */

typedef enum td_chain_end {
#define X(name) TD_CHAIN_END_##name,
  TD_CHAIN_ENDS(X)
#undef X
      TD_N_CHAIN_ENDS
} td_chain_end;

/* td_chain_link_name returns "data", ..., td_chain_end_name "pass", ... Constant. */
const char *td_chain_link_name(td_chain_link link);
const char *td_chain_end_name(td_chain_end end);

/* One step. What a link does not use is TD_NONE or 0. */
typedef struct td_chain_step {
  uint64_t seq; /* of its event */
  td_chain_link link;
  uint32_t node, thread, graph_task;
  uint32_t to;   /* the node that this one explains */
  uint32_t edge; /* data: its number in the catalog, from `node` to `to` */
  uint32_t left; /* data, state: gradients that `to` still waited for */
  uint32_t queue;
  uint32_t lock, object, holder; /* wait for a lock, or for the thread that had it */
  uint64_t ns;                   /* of that wait */
} td_chain_step;

#define TD_CHAIN_STEP                                                                              \
  (td_chain_step) {                                                                                \
    .node = TD_NONE, .thread = TD_NONE, .graph_task = TD_NONE, .to = TD_NONE, .edge = TD_NONE,     \
    .left = TD_NONE, .queue = TD_NONE, .lock = TD_NONE, .object = TD_NONE, .holder = TD_NONE       \
  }

/* So many steps are kept: all but the last of them are the first of the chain. */
#define TD_CHAIN_KEPT 1000

/* Events of steps go back in time. Two kinds of steps may have the event of the step before: an
 * end, and a step with the event of the moment. It tells what nodes wait for then, or what the
 * event did to the node in question. */
typedef struct td_chain {
  td_chain_step *steps; /* (owned) [n] from the moment to the cause */
  uint32_t n, capacity;
  uint64_t n_left_out; /* steps before the last that were not kept */
  td_chain_end end;
  bool is_unfinished; /* with more events to read, it might be another chain */
  char *asked;        /* (owned) the sentence of the first step */
} td_chain;

/* td_chain_add appends a step. td_chain_fini frees what a chain owns. */
void td_chain_add(td_chain *chain, td_chain_step step);
void td_chain_fini(td_chain *chain);
