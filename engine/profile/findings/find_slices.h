/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nodes that get many gradients of slices. Each is as large as the whole tensor, and nearly all of
 * it is zeros. Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/finding.h"

/* What one node has got from slices in the pass that runs it. */
typedef struct td_sliced {
  uint32_t node, from, n; /* from: the last slice */
  uint64_t bytes, seq;    /* seq: of the last gradient */
} td_sliced;

typedef struct td_find_slices {
  td_number_map slices; /* living nodes that are slices: 1 */
  uint32_t forgotten_at;
  td_sliced *items; /* (owned) of the passes since the last outermost one ended */
  uint32_t n, capacity;
  td_number_map numbers; /* by node: 1 + the item */
  td_sliced most;        /* of all passes */
  char *name, *line;     /* (owned) of its slice, or NULL */
  char *whole;           /* (owned) what people call the node */
} td_find_slices;

void td_find_slices_make(td_find_slices *self, uint32_t node, const char *name);
void td_find_slices_free_node(td_find_slices *self, uint32_t node);
void td_find_slices_take(td_find_slices *self, const td_event_buffer_add *event, uint64_t seq);
void td_find_slices_end_pass(td_find_slices *self);

/* td_find_slices_learn takes names of a segment's nodes. td_find_slices_tell adds what was found.
 */
void td_find_slices_learn(td_find_slices *self, const td_catalog *catalog);
void td_find_slices_tell(const td_find_slices *self, td_findings *findings);
void td_find_slices_fini(td_find_slices *self);
