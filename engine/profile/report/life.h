/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The life of a node in a pass: Note [Lives] in lives.h. Plain data; any thread. */
#pragma once

#include <stdint.h>

/* TD_LIFE_PART(name) in the order in which a node goes through them. */
#define TD_LIFE_PARTS(X)                                                                           \
  X(dependency_wait)                                                                               \
  X(queue_wait)                                                                                    \
  X(lock_wait) X(pre_hooks) X(apply) X(post_hooks) X(accumulate) X(release) X(push) X(no_core)

typedef enum td_life_part {
#define X(name) TD_LIFE_##name,
  TD_LIFE_PARTS(X)
#undef X
      TD_N_LIFE_PARTS
} td_life_part;

typedef struct td_life {
  uint32_t node, graph_task, thread;
  uint32_t pass;      /* the outermost one around graph_task: number in the order of the tape */
  uint32_t queue;     /* from which it was popped, or TD_NONE */
  uint64_t popped_ns; /* when; of no meaning without a queue */
  uint64_t late_ns;   /* of its wait in the queue, in which the thread that popped it slept */
  uint64_t parts[TD_N_LIFE_PARTS]; /* ns */
  double shares[TD_N_LIFE_PARTS];  /* ns of the pass: Note [Shares of the wall] in life_passes.h */
  uint64_t recorder_ns;            /* that the recorder took meanwhile: in none of the parts */
  double recorder_share;           /* the same of the pass */
  uint64_t begin_seq;              /* of its node_begin: td_lives_at */
  uint64_t begin_ns, end_ns;       /* of its function */
} td_life;
