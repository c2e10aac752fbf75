/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which table of an analysis somebody wants. Plain data. */
#pragma once

#include "engine/profile/range.h"

#include <glib.h>

/* TD_ANALYSES(name, title): what people choose from. `waiting` is of the moment at the playhead,
 * and comes from the document: td_waiting_table. */
#define TD_ANALYSES(X)                                                                             \
  X(profile, N_("Profile: where the time went"))                                                   \
  X(waiting, N_("Waiting: which gradients are missing"))                                           \
  X(contention, N_("Contention: who waited for whom"))                                             \
  X(critical, N_("Critical path: what the end of the pass waited for"))                            \
  X(whatif, N_("What-if: other schedules"))                                                        \
  X(memory, N_("Memory: who holds it"))

typedef enum TdAnalysis {
#define X(name, title) TD_ANALYSIS_##name,
  TD_ANALYSES(X)
#undef X
      TD_N_ANALYSES
} TdAnalysis;

typedef struct TdAnalysisWish {
  TdAnalysis analysis;
  guint choice;
  uint32_t graph_task;        /* outermost pass, or TD_NONE: all of them */
  td_range range;             /* of time, if td_analysis_has_ranges */
  guint n_devices, n_workers; /* of whatif; 0 devices: as recorded */
  const char *changes;        /* of whatif: "AddmmBackward0=0.5 MulBackward0=0", copied */
} TdAnalysisWish;
