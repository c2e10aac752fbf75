/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the time of backward passes went: lives of nodes (lives.h) in groups. Read-only once it is
 * made; any number of threads may read it. */
#pragma once

#include "engine/base/text_table.h"
#include "engine/profile/report/lives.h"
#include "engine/profile/report/report_by.h"

typedef struct td_report_wish {
  td_report_by by;
  uint32_t graph_task; /* of the only outermost pass, or TD_NONE */
  uint32_t skip_first; /* outermost passes */
} td_report_wish;

/* Times are in ns. p50, p95 and max are of the values that `self` adds up. */
typedef struct td_report_row {
  const char *key; /* (borrowed) from the report */
  uint64_t n;      /* lives, calls or waits */
  uint64_t self;   /* in functions, hooks or waits for locks */
  uint64_t total;  /* on threads: all parts but the waits for gradients and in queues */
  uint64_t p50, p95, max;
  uint64_t parts[TD_N_LIFE_PARTS]; /* of lives */
} td_report_row;

typedef struct td_report {
  uint32_t n_passes, n_unended; /* outermost ones; of these, without an end */
  uint64_t wall;                /* ns of these passes */
  uint64_t unattributed;        /* of it, when no thread was at work for a node of the pass */
  td_report_row *rows;          /* (owned) the greatest `self` first */
  uint32_t n_rows;
  bool is_known[TD_N_LIFE_PARTS];
  td_knowledge known; /* how the functions are */
  td_text_table keys; /* (owned) */
} td_report;

/* td_report_make reads the tape once, or twice if it is not cut. TD_OUT_OF_RANGE if there is no
 * such pass; else as td_catalog_visit. The caller calls td_report_fini in all cases. */
td_status td_report_make(td_tape *tape, const td_report_wish *wish, td_report *report,
                         td_error *error);
void td_report_fini(td_report *report);
