/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One figure for each node of a pass, to colour a picture of the graph. It may be the node's time,
 * its bytes, or its place on the critical path. Read-only once it is made. */
#pragma once

#include "engine/base/translate.h"
#include "engine/replay/catalog.h"

/* TD_OVERLAYS(X): X(name, label). */
#define TD_OVERLAYS(X)                                                                             \
  X(time, TD_N("Time"))              /* how long the threads were at work for a node */            \
  X(bytes, TD_N("Bytes"))            /* what a node saved, and the gradients that waited for it */ \
  X(norm, TD_N("Gradient Norm"))     /* the largest L2 norm of a node's gradients */               \
  X(critical, TD_N("Critical Path")) /* the longest chain of nodes that waited for each other */   \
  X(slack, TD_N("Slack"))            /* how much longer a node could take without a longer pass */

typedef enum td_overlay_kind {
#define X(name, label) TD_OVERLAY_##name,
  TD_OVERLAYS(X)
#undef X
      TD_N_OVERLAYS
} td_overlay_kind;

/* td_overlay_name returns "time", ..., td_overlay_label what people call it. Constant. */
const char *td_overlay_name(td_overlay_kind kind);
const char *td_overlay_label(td_overlay_kind kind);

typedef struct td_overlay_value {
  uint32_t node;
  uint32_t step; /* on the critical path, from 1; 0: not on it, or another kind */
  double value;  /* ns, bytes or norm */
  double heat;   /* 0 to 1: how much it stands out */
} td_overlay_value;

typedef struct td_overlay {
  td_overlay_kind kind;
  uint32_t graph_task;
  td_overlay_value *values; /* (owned) of the nodes that have one, ordered by node */
  uint32_t n_values;
  double least, most;
  td_knowledge known; /* how the tape knows what the figures come from */
} td_overlay;

/* td_overlay_make reads the events of a pass, and of those that overlap it. The catalog is of the
 * tape or the segment that the pass is in. TD_UNSUPPORTED if the tape cannot tell. So it is for the
 * critical path of a pass inside another. TD_OUT_OF_RANGE if there is no such pass, or it did not
 * end well; else as td_tape_check_readable. The caller calls td_overlay_fini in all cases. */
td_status td_overlay_make(td_tape *tape, const td_catalog *catalog, uint32_t graph_task,
                          td_overlay_kind kind, td_overlay *overlay, td_error *error);
void td_overlay_fini(td_overlay *overlay);

/* td_overlay_find returns what a node has, or NULL. */
const td_overlay_value *td_overlay_find(const td_overlay *overlay, uint32_t node);
