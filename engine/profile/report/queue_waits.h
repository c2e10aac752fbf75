/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For how long tasks lay in queues, and what the thread that takes them did meanwhile.
 * Zero-initialise, then set what is wanted. One thread.
 *
 * Note [Why tasks lie]
 * While a task lies in a queue, its time belongs to what the thread of the queue does. Which thread
 * that is: the last one that popped a task there. Before the first pop it is the queue's owner, or
 * the thread of its device. As long as no event is of a thread of that device, that thread has not
 * started. Only events of this thread and of the queue change the cause, so no other event costs
 * anything.
 *
 * The cause is of a task: a thread that runs nodes of pass 3 is at work for a task's own pass, or
 * for another one. So a queue keeps, for each pass that has a task there, for how long nodes of
 * that pass ran.
 *
 * A thread that had no core tells so when that is over. The time then moves from the cause that the
 * thread had to no_core: at most as far as that cause goes back, or to the last such event.
 *
 * If tasks of a pass lie and no thread is at work for the pass, then the pass waits for the threads
 * of these queues. If it has tasks in several queues, these share the time. */
#pragma once

#include "engine/base/translate.h"
#include "engine/profile/report/lives.h"

/* TD_LAY_CAUSES(name, words): what the thread of a queue does while a task lies there. */
#define TD_LAY_CAUSES(X)                                                                           \
  X(own_pass, TD_N("ran nodes of the task's pass"))                                                \
  X(other_pass, TD_N("ran nodes of another pass"))                                                 \
  X(not_started, TD_N("had not started"))                                                          \
  X(waking, TD_N("had yet to wake from sleep"))                                                    \
  X(lock, TD_N("waited for locks"))                                                                \
  X(gil, TD_N("waited for the GIL"))                                                               \
  X(no_core, TD_N("had no core"))                                                                  \
  X(engine, TD_N("was at no node"))                                                                \
  X(unknown, TD_N("did what the tape does not tell"))

typedef enum td_lay_cause {
#define X(name, words) TD_LAY_##name,
  TD_LAY_CAUSES(X)
#undef X
      TD_N_LAY_CAUSES
} td_lay_cause;

/* td_lay_cause_name returns "own_pass", ..., td_lay_cause_words "ran nodes of the task's pass", ...
 * for td_translate. Constant. */
const char *td_lay_cause_name(td_lay_cause cause);
const char *td_lay_cause_words(td_lay_cause cause);

/* ns by cause. */
typedef struct td_lay {
  uint64_t ns[TD_N_LAY_CAUSES];
} td_lay;

/* A task from its push to its pop. */
typedef struct td_task_lay {
  uint32_t node, graph_task, queue, thread; /* thread: that popped it */
  uint32_t pass;                            /* outermost one: its number of td_lives */
  uint64_t popped_ns;                       /* of the tape */
  uint64_t ns;                              /* of the clock */
  uint64_t late_ns;                         /* of it, the thread slept */
  td_lay lay;                               /* its parts */
  /* The node that kept the thread for longest meanwhile, of whatever pass, and for how long;
   * TD_NONE: none. */
  uint32_t behind, behind_pass;
  uint64_t behind_ns;
} td_task_lay;

typedef struct td_queue_waits {
  void (*task)(const td_task_lay *lay, void *data); /* at each pop; or NULL */
  /* At the end of an outermost pass, and in td_queue_waits_end: for how long tasks of it lay, and
   * no thread was at work for it. Or NULL. */
  void (*pass)(uint32_t pass, const double ns[TD_N_LAY_CAUSES], void *data);
  void *data;
  bool counted; /* the last event; and its time, of the clock */
  uint64_t now;
  td_range_time time;           /* of the same clock: of all events */
  struct td_queue_wait *queues; /* (owned) by id */
  uint32_t *filled;             /* (owned) queues with tasks */
  struct td_server *servers;    /* (owned) by thread */
  struct td_lying_pass *passes; /* (owned) that are under way and had a task */
  struct td_lying_task *tasks;  /* (owned) those that lie, and free places */
  td_number_map task_of;        /* by graph task and node: 1 + the task, or 0 */
  uint32_t n_queues, n_filled, filled_capacity, n_servers, n_passes, n_tasks, tasks_capacity,
      first_free;
} td_queue_waits;

/* td_queue_waits_take takes the next event, after `lives` has taken it; `time` is that
 * of a clock that may stand still. If it does not count, its time is in no sum of queues. */
void td_queue_waits_take(td_queue_waits *waits, td_lives *lives, const td_any_event *event,
                         const td_range_time *time, bool counts);

/* td_queue_waits_serve says which thread pops the tasks of a queue, to someone who begins in the
 * middle of a tape. */
void td_queue_waits_serve(td_queue_waits *waits, uint32_t queue, uint32_t thread);

/* td_queue_waits_get returns for how long a queue had tasks. Of running nodes: own_pass, if a task
 * of the same pass lay there. */
td_lay td_queue_waits_get(const td_queue_waits *waits, uint32_t queue);

/* td_queue_waits_end tells of the passes that have not ended. */
void td_queue_waits_end(td_queue_waits *waits);
void td_queue_waits_fini(td_queue_waits *waits);
