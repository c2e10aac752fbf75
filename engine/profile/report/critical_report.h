/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The critical path of one pass of a tape, told in a few parts. Read-only once it is made. */
#pragma once

#include "engine/profile/model/critical.h"

#define TD_CRITICAL_PARTS_MAX 20

/* The longest wait of a thread for a lock, or for a stream, in a part. The texts are owned. */
typedef struct td_critical_wait {
  uint32_t n;      /* waits of its kind in the part; 0: the rest is empty */
  char *name;      /* "GIL", "stream 1 of sim:0" */
  char *holder;    /* of a lock: thread "1 greedy", or NULL: unknown */
  char *node;      /* of the holder when it gave the lock back, or of the kernel; NULL: none */
  char *line;      /* that made that node, or NULL */
  uint64_t ns;     /* of the wait */
  uint64_t inside; /* of it, in the part: all if no node of the model was waited for, else none */
} td_critical_wait;

/* Steps that follow one another on a thread or a stream, in one module if there are few. */
typedef struct td_critical_part {
  uint64_t ns;
  uint32_t n_steps;
  td_critical_link link; /* from the part before */
  char *thread;          /* (owned) "0 main"; that of a kernel launched it */
  char *stream;          /* (owned) "stream 1 of sim:0" if these are kernels, or NULL */
  char *what;            /* (owned) the module or function that took most of it */
  uint64_t what_ns;      /* how much */
  uint32_t first, last;  /* nodes */
  td_critical_wait lock_wait, stream_wait;
} td_critical_part;

typedef struct td_critical_slack {
  uint32_t node;
  uint64_t ns;
  char *name; /* (owned) */
} td_critical_slack;

typedef struct td_critical_report {
  uint32_t graph_task, n_passes; /* the pass that took longest of those that overlapped */
  bool is_first;                 /* it is the tape's first */
  bool left_out_first;           /* the first was not looked at, because it warms up */
  uint64_t wall, lead, tail;     /* ns of that pass; lead and tail as in pass_model.h */
  uint64_t length, work;         /* ns of the path; of all tasks' threads, without waits */
  uint32_t n_workers;            /* threads that had a task */
  uint32_t n_tasks, n_steps;
  td_critical_part parts[TD_CRITICAL_PARTS_MAX];
  uint32_t n_parts;
  td_critical_slack *slacks; /* (owned) [n_tasks] in the order of the pops */
} td_critical_report;

/* td_critical_report_make tells of one outermost pass, or with TD_NONE of the longest one, and of
 * those that overlap it. The tape's first pass is no candidate for the longest one if there is
 * another: much happens in it for the first time. It reads the tape once. TD_UNSUPPORTED if nobody
 * saw its queues; TD_OUT_OF_RANGE if there is no such pass that ended well; else as
 * td_catalog_visit. The caller calls td_critical_report_fini in all cases. */
td_status td_critical_report_make(td_tape *tape, uint32_t graph_task, td_critical_report *report,
                                  td_error *error);
void td_critical_report_fini(td_critical_report *report);
