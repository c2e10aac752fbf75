/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The critical path of one pass of a tape, told in a few parts. Read-only once it is made. */
#pragma once

#include "engine/profile/model/critical.h"

#define TD_CRITICAL_PARTS_MAX 20

/* A wait for a lock. The texts are owned. */
typedef struct td_critical_wait {
  char *lock;      /* "GIL" */
  char *holder;    /* thread "1 greedy", or NULL: unknown */
  char *node;      /* of the holder when it gave the lock back, or NULL: it was at none */
  char *line;      /* that made that node, or NULL */
  uint64_t ns;     /* of the wait */
  uint64_t inside; /* of it, in the part: all if the holder was at no node, else none */
} td_critical_wait;

/* Steps that follow one another on a thread, in one module if there are few. */
typedef struct td_critical_part {
  uint64_t ns;
  uint32_t n_steps;
  td_critical_link link; /* from the part before */
  char *thread;          /* (owned) "0 main" */
  char *what;            /* (owned) the module or function that took most of it */
  uint64_t what_ns;      /* how much */
  uint32_t first, last;  /* nodes */
  uint32_t n_waits;      /* for locks, on the path */
  td_critical_wait wait; /* the longest of them */
} td_critical_part;

typedef struct td_critical_slack {
  uint32_t node;
  uint64_t ns;
  char *name; /* (owned) */
} td_critical_slack;

typedef struct td_critical_report {
  uint32_t graph_task, n_passes; /* the pass that took longest of those that overlapped */
  uint64_t wall, lead, tail;     /* ns of that pass; lead and tail as in pass_model.h */
  uint64_t length, work;         /* ns of the path; of all tasks, without waits for locks */
  uint32_t n_workers;            /* threads that had a task */
  uint32_t n_tasks, n_steps;
  td_critical_part parts[TD_CRITICAL_PARTS_MAX];
  uint32_t n_parts;
  td_critical_slack *slacks; /* (owned) [n_tasks] in the order of the pops */
} td_critical_report;

/* td_critical_report_make tells of one outermost pass, or with TD_NONE of the longest one, and of
 * those that overlap it. It reads the tape once. TD_UNSUPPORTED if nobody saw its queues;
 * TD_OUT_OF_RANGE if there is no such pass that ended well; else as td_catalog_visit. The caller
 * calls td_critical_report_fini in all cases. */
td_status td_critical_report_make(td_tape *tape, uint32_t graph_task, td_critical_report *report,
                                  td_error *error);
void td_critical_report_fini(td_critical_report *report);
