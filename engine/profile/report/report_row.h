/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A row of a report. */
#pragma once

#include "engine/profile/report/lives.h"

/* A function, a hook or a wait for a lock, and where it began. */
typedef struct td_report_call {
  uint32_t node; /* that the thread was at work for */
  uint64_t begin_seq, begin_ns, end_ns;
} td_report_call;

/* Times are in ns. p50, p95 and max are of the values that `self` adds up. */
typedef struct td_report_row {
  const char *key; /* (borrowed) from the report */
  uint64_t n;      /* lives, calls or waits */
  uint64_t self;   /* in functions, hooks or waits for locks */
  uint64_t total;  /* on threads: all parts but the waits for gradients and in queues */
  double of_wall;  /* ns of `self` as shares of the passes: Note [Shares of the wall]; of lives */
  uint64_t p50, p95, max;
  uint64_t parts[TD_N_LIFE_PARTS]; /* of lives */
  td_report_call longest;
} td_report_row;
