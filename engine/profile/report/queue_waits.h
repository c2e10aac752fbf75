/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For how long tasks lay in queues, and what the thread that takes them did meanwhile.
 * Zero-initialise. One thread.
 *
 * Note [Why tasks lie]
 * While a queue has tasks, its time belongs to what the thread that pops them does. Only events of
 * that thread and of the queue change this, so no other event costs anything. Which thread it is
 * follows from the pops. Before the first one it is not known. */
#pragma once

#include "engine/base/translate.h"
#include "engine/profile/report/lives.h"

/* TD_LAY_CAUSES(name, words): what the thread of a queue does while tasks lie there. */
#define TD_LAY_CAUSES(X)                                                                           \
  X(running, TD_N("ran nodes"))                                                                    \
  X(lock, TD_N("waited for locks"))                                                                \
  X(gil, TD_N("waited for the GIL"))                                                               \
  X(asleep, TD_N("slept, and had yet to wake"))                                                    \
  X(engine, TD_N("was at no node"))                                                                \
  X(unknown, TD_N("had not taken a task yet"))

typedef enum td_lay_cause {
#define X(name, words) TD_LAY_##name,
  TD_LAY_CAUSES(X)
#undef X
      TD_N_LAY_CAUSES
} td_lay_cause;

/* td_lay_cause_name returns "running", ..., td_lay_cause_words "ran nodes", ... for td_translate.
 * Constant. */
const char *td_lay_cause_name(td_lay_cause cause);
const char *td_lay_cause_words(td_lay_cause cause);

/* ns in which a queue had a task, by cause. */
typedef struct td_lay {
  uint64_t ns[TD_N_LAY_CAUSES];
} td_lay;

typedef struct td_queue_waits {
  struct td_queue_wait *queues; /* (owned) by id */
  struct td_server *servers;    /* (owned) by thread */
  uint32_t n_queues, n_servers;
} td_queue_waits;

/* td_queue_waits_take takes the next event, after `lives` has taken it; `now` is the time of a
 * clock that may stand still. If it does not count, its time goes to nobody. */
void td_queue_waits_take(td_queue_waits *waits, const td_lives *lives, const td_any_event *event,
                         uint64_t now, bool counts);

/* td_queue_waits_get returns the sums of a queue. */
td_lay td_queue_waits_get(const td_queue_waits *waits, uint32_t queue);
void td_queue_waits_fini(td_queue_waits *waits);
