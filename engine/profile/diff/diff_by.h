/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two tapes, function by function: how much time a pass spends in each, over many passes. A sample
 * is the time of all calls in one outermost pass (`apply` of Note [Lives]). Passes that failed or
 * never ended have none. Names of functions are compared as in op_name.h. The thread that owns the
 * tapes. */
#pragma once

#include "engine/base/text_table.h"
#include "engine/profile/report/report_by.h"
#include "engine/trace/tape.h"

/* A ratio needs so many samples on both sides, and medians of so many ns. */
#define TD_RATIO_SAMPLES 3
#define TD_RATIO_NS 50000

typedef struct td_diff_by_side {
  uint32_t n_passes;      /* that called it: samples */
  uint64_t n_calls;       /* in these */
  uint64_t p25, p50, p75; /* ns */
} td_diff_by_side;

typedef struct td_diff_by_row {
  const char *key; /* (borrowed) from the comparison */
  td_diff_by_side a, b;
  double ratio;     /* of the medians, B's by A's */
  const char *lack; /* why there is no ratio, or NULL; constant */
} td_diff_by_row;

typedef struct td_diff_by {
  uint32_t n_passes_a, n_passes_b; /* that have samples */
  td_diff_by_row *rows;            /* (owned) the greatest median first */
  uint32_t n_rows;
  td_text_table keys; /* (owned) */
} td_diff_by;

/* td_diff_by_has tells whether nodes can be grouped so: by function, module or line. */
bool td_diff_by_has(td_report_by by);

/* td_diff_by_make reads each tape once, or twice if it is not cut. TD_UNSUPPORTED if a tape does
 * not tell how long functions took; else as td_catalog_visit. An error names the tape. The caller
 * calls td_diff_by_fini in all cases. */
td_status td_diff_by_make(td_tape *a, td_tape *b, td_report_by by, td_diff_by *diff,
                          td_error *error);
void td_diff_by_fini(td_diff_by *diff);
