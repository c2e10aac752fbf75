/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Parameters that no gradient reached. Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/finding.h"

typedef struct td_unreached {
  uint32_t name; /* string */
  uint64_t seq;
  td_cut_kind cut; /* what cut it off the loss, and where: a string */
  uint32_t stack;
  bool is_nameless;         /* it is "parameter 3": no node has that label */
  bool has_run, has_stored; /* its AccumulateGrad, afterwards */
  uint32_t node;            /* that one, if it has run */
  char *giver, *giver_line; /* (owned) the node that gave it none, or NULL */
} td_unreached;

typedef struct td_find_unreached {
  td_unreached *items; /* (owned) */
  uint32_t n, capacity;
  td_number_map numbers; /* by name: 1 + the item */
  bool knows_stores;     /* the tape tells of gradients that are stored */
} td_find_unreached;

void td_find_unreached_take(td_find_unreached *self, td_tape *tape,
                            const td_event_no_gradient *event, uint64_t seq);

/* td_find_unreached_run and td_find_unreached_store say what the AccumulateGrad of a parameter did.
 * 0 is no name. */
void td_find_unreached_run(td_find_unreached *self, uint32_t name, uint32_t node);
void td_find_unreached_store(td_find_unreached *self, uint32_t name);

/* td_find_unreached_learn takes names of a segment's nodes. td_find_unreached_tell adds what was
 * found on the whole tape, but for replaced parameters (by name, or NULL). */
void td_find_unreached_learn(td_find_unreached *self, const td_catalog *catalog);
void td_find_unreached_tell(const td_find_unreached *self, const td_number_map *replaced,
                            td_tape *tape, td_findings *findings);
void td_find_unreached_fini(td_find_unreached *self);
