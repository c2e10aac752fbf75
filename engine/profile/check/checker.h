/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Checker: the bookkeeping of one td_check_run and the groups of rules that share it. Private
 * to engine/profile. One thread. */
#pragma once

#include "engine/base/hash_index.h"
#include "engine/profile/check/check_callbacks.h"
#include "engine/profile/check/check_queue.h"
#include "engine/profile/check/check_tasks.h"
#include "engine/profile/check/check_threads.h"
#include "engine/profile/check/violation.h"

typedef enum td_rule {
#define RULE(id, name, summary, kinds) TD_RULE_##id,
#include "engine/profile/check/rules.def"
#undef RULE
  TD_N_RULES
} td_rule;

/* A thread may finish its last task after another thread has ended the graph task. So the checker
 * remembers the nodes of this many ended graph tasks. */
#define TD_ENDED_KEPT 64

/* A graph task's tally. With several threads the stamps of decrements are not under a lock. So
 * the checker compares values in between only if one thread did all the work. That is known at the
 * end. */
typedef struct td_tally {
  uint32_t graph_task;
  td_check_tasks tasks;         /* (owned) until some graph tasks later have ended */
  td_check_callbacks callbacks; /* (owned) until the graph task ends */
  uint32_t *queues;             /* (owned) that had its nodes, until it ends */
  size_t n_queues, queues_capacity;
  uint64_t n_pushed, n_done; /* nodes */
  uint64_t outstanding;      /* nodes and dummies */
  uint32_t n_parked;
  uint32_t thread; /* the first that worked for it */
  bool has_begun, several_threads, failed, ended_well;
  uint64_t end_seq;      /* of its graph_task_end */
  uint64_t mismatch_seq; /* first event whose value was not `outstanding`; UINT64_MAX: none */
  uint32_t mismatch_value;
  uint64_t mismatch_expected;
} td_tally;

/* A contended lock and the thread that holds it, or TD_NONE. */
typedef struct td_held_lock {
  uint32_t kind, object, process, thread;
} td_held_lock;

typedef struct td_checker {
  const td_catalog *catalog; /* (borrowed) of the segment that is gone through */
  bool judged[TD_N_RULES];
  bool is_kept;           /* passes may have begun before the tape */
  td_check_queue *queues; /* (owned) */
  uint32_t n_queues;
  td_check_thread *threads; /* (owned) */
  uint32_t n_threads;
  td_id_rows graph_tasks; /* (owned) */
  td_tally *tallies;      /* (owned) by their rows: all of the tape so far */
  uint32_t n_tallies, tallies_capacity;
  uint32_t ended[TD_ENDED_KEPT]; /* graph tasks that ended last, a ring */
  uint64_t n_ended;
  td_held_lock *locks; /* (owned) in the order in which threads first got them */
  uint32_t n_locks, locks_capacity;
  td_hash_index lock_numbers;  /* by kind, object and process */
  td_event_task_chosen chosen; /* the last one */
  uint64_t chosen_seq;         /* 1 + its seq; 0: none */
  uint64_t seq;
  td_check_report report;
  void *data;
  uint64_t n_violations;
} td_checker;

/* td_checker_go_on makes room for the queues and threads of the next segment; false without
 * memory. */
bool td_checker_go_on(td_checker *checker, const td_catalog *catalog);
void td_checker_fini(td_checker *checker);

/* td_tally_of returns the tally of a graph task that an event names. A call with another graph task
 * may move it. */
td_tally *td_tally_of(td_checker *checker, uint32_t graph_task);

/* td_checker_violate reports a broken rule at the present event, in words that follow the node's
 * name, if any. */
void td_checker_violate(td_checker *checker, td_rule rule, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* td_check_is_known returns false if the event is of something that began before the tape: see Note
 * [Passes that a flight recorder has cut in two]. It must see all events. */
bool td_check_is_known(td_checker *checker, const td_any_event *event);

/* These check an event by one group of rules each. Scheduling is about dependencies, buffers,
 * queues and graph tasks. Running is about nodes, hooks, kernels and locks. Finishing is about
 * final callbacks. The event's queue and graph task exist. */
void td_check_scheduling(td_checker *checker, const td_any_event *event);
void td_check_running(td_checker *checker, const td_any_event *event);
void td_check_finishing(td_checker *checker, const td_any_event *event);

/* td_check_graph_tasks_end checks what must be true of every graph task that ended well. The caller
 * has read the whole tape: a thread may finish its last task after another thread has ended the
 * graph task. It sorts the tallies, so nobody may look for one afterwards. */
void td_check_graph_tasks_end(td_checker *checker);
