/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Forks: which mutexes a fork must find free, in what order it takes them, and what its child
 * resets.
 *
 * Note [Forks]
 * Problem: the child of a fork has one thread. A mutex that another thread held is locked there for
 * ever, and what it guards is half changed.
 *
 * Constraint: the handlers of pthread_atfork run in the order in which they were installed, and
 * each unit installs its own at another time. A fork would then take mutexes in another order than
 * threads do. That can deadlock.
 *
 * Trick: one handler takes all of them in the order of td_fork_rank. So whoever holds a mutex may
 * take only mutexes of later ranks. No holder may wait for the GIL, for the hub or for a compiler:
 * the forking thread may hold the GIL. */
#pragma once

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The lock order. No thread holds two mutexes of one rank. */
typedef enum td_fork_rank {
  TD_FORK_PROBE,   /* engine/probe/attach.c */
  TD_FORK_CALLS,   /* engine/probe/calls.c */
  TD_FORK_WORLD,   /* the observer: announcing */
  TD_FORK_CLASSES, /* classes of nodes and of hooks */
  TD_FORK_PATCHES, /* vtables */
  TD_FORK_RECORDS, /* queues and graph tasks */
  TD_FORK_IDS,
  TD_FORK_OPERATIONS,
  TD_FORK_CONTRIBUTIONS,
  TD_FORK_CUTS,
  TD_FORK_STEPS,
  TD_FORK_GATE,
  TD_FORK_QUEUES, /* the engine's list of ready queues */
  TD_FORK_STRINGS,
  TD_FORK_RINGS,
  TD_FORK_LIBRARIES, /* the list of loaded libraries */
  TD_N_FORK_RANKS
} td_fork_rank;

/* td_fork_guard has forks take a mutex that lives as long as the process. Each mutex once, before
 * anybody takes it. Any thread. */
void td_fork_guard(pthread_mutex_t *mutex, td_fork_rank rank);

/* td_fork_reset has each child call a function once all mutexes are free again. For constructors.
 */
void td_fork_reset(void (*reset)(void));

/* td_fork_watch begins to watch forks, if nobody has begun. Before a second thread can hold what is
 * guarded. Older C libraries hold a lock of their own while handlers run, so the caller must hold
 * nothing that a handler takes. */
void td_fork_watch(void);

/* What td_fork_watch installs, for whoever watches forks already. */
void td_fork_before(void);
void td_fork_after(void);
void td_fork_after_in_child(void);

#ifdef __cplusplus
}
#endif
