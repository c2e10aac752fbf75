/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Checker: the bookkeeping of one td_check_run and the two groups of rules that share it. Private
 * to engine/profile. One thread. */
#pragma once

#include "engine/profile/check.h"
#include "engine/profile/check_queue.h"
#include "engine/profile/check_tasks.h"
#include "engine/profile/check_threads.h"

typedef enum td_rule {
#define RULE(id, name, summary) TD_RULE_##id,
#include "engine/profile/rules.def"
#undef RULE
} td_rule;

/* A graph task's tally. With several threads the stamps of decrements are not under a lock, so
 * values between are compared only where one thread did all the work, which is known at the end. */
typedef struct td_tally {
  uint64_t n_pushed, n_done; /* nodes */
  uint64_t outstanding;      /* nodes and dummies */
  uint32_t n_parked;
  uint32_t thread; /* the first that worked for it */
  bool several_threads, ended_well;
  uint64_t mismatch_seq; /* first event whose value was not `outstanding`; UINT64_MAX: none */
  uint32_t mismatch_value;
  uint64_t mismatch_expected;
} td_tally;

/* A contended lock and who holds it. */
typedef struct td_held_lock {
  uint32_t kind, object, thread;
} td_held_lock;

typedef struct td_checker {
  td_graph *graph; /* (owned) */
  td_check_tasks tasks;
  td_check_queue *queues;   /* (owned) [n_queues] */
  td_check_thread *threads; /* (owned) [n_threads] */
  td_tally *tallies;        /* (owned) [n_graph_tasks] */
  td_held_lock *locks;      /* (owned) held now: few */
  size_t n_locks, locks_capacity;
  uint64_t seq;
  td_check_report report;
  void *data;
  uint64_t n_violations;
} td_checker;

/* td_checker_violate reports a broken rule at the present event, in words that follow the node's
 * name, if any. */
void td_checker_violate(td_checker *checker, td_rule rule, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* td_check_scheduling holds an event to the rules about dependencies, buffers, queues and graph
 * tasks; td_check_running to those about nodes, hooks, kernels and locks. The event's queue and
 * graph task exist. */
void td_check_scheduling(td_checker *checker, const td_any_event *event);
void td_check_running(td_checker *checker, const td_any_event *event);
