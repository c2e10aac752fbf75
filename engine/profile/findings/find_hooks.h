/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions that are called as hooks more often in each pass. Private to engine/profile/findings.
 * Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/finding.h"

/* A function that is called as a hook. Its count in a pass is that of the node which calls it most.
 * Passes in which it is not called do not count. */
typedef struct td_hook_growth {
  uint32_t owner;       /* string */
  uint32_t node;        /* of the last call */
  uint64_t seq;         /* of the last call */
  uint64_t now, before; /* its count in this pass, and in the one before */
  uint64_t least, most; /* of passes on end in which the count did not fall */
  uint32_t n_rises;     /* between these */
  bool has_grown;
} td_hook_growth;

typedef struct td_find_hooks {
  td_hook_growth *items; /* (owned) */
  uint32_t n, capacity;
  td_number_map numbers; /* by owner: 1 + the item */
  td_number_map calls;   /* of this pass: by item and node */
} td_find_hooks;

void td_find_hooks_take(td_find_hooks *self, const td_event_hook_begin *event, uint64_t seq);

/* td_find_hooks_end_pass says that an outermost pass has ended. */
void td_find_hooks_end_pass(td_find_hooks *self);

/* td_find_hooks_tell adds what was found on the whole tape. */
void td_find_hooks_tell(const td_find_hooks *self, td_tape *tape, td_findings *findings);
void td_find_hooks_fini(td_find_hooks *self);
