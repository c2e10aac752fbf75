/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the rows of a report are about. Any thread. */
#pragma once

/* TD_REPORT_BYS(X): how lives are grouped. Of `hook` and `lock`, a row has calls and
 * waits, not lives. */
#define TD_REPORT_BYS(X)                                                                           \
  X(op, "function")                                                                                \
  X(module, "module")                                                                              \
  X(line, "line")                                                                                  \
  X(node, "node")                                                                                  \
  X(thread, "thread")                                                                              \
  X(queue, "queue")                                                                                \
  X(lock, "lock")                                                                                  \
  X(hook, "hook")                                                                                  \
  X(pass, "pass")                                                                                  \
  X(rank, "process")

typedef enum td_report_by {
#define X(name, heading) TD_REPORT_BY_##name,
  TD_REPORT_BYS(X)
#undef X
      TD_N_REPORT_BYS
} td_report_by;

/* td_report_by_name returns "op", ..., td_report_by_heading what a column of keys is called.
 * Constant. */
const char *td_report_by_name(td_report_by by);
const char *td_report_by_heading(td_report_by by);
