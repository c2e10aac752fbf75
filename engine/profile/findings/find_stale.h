/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nodes that compute with a parameter's old value: they were made of it before its optimizer's
 * steps, and run after several of them. Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/profile/findings/find_leaves.h"

/* A living node. */
typedef struct td_made_of {
  uint32_t node;
  uint8_t role;   /* a leaf, a view or another */
  uint8_t n_to;   /* of the two next */
  uint32_t to[2]; /* its first edges lead there */
  uint64_t made;  /* steps of all optimizers before it entered the tape */
  uint64_t ran;   /* the step of its leaf's optimizer before its last stale run, or 0 */
  uint32_t n_runs;
} td_made_of;

typedef struct td_find_stale {
  td_number_map numbers; /* by node, until it is freed: 1 + the item */
  td_made_of *items;     /* (owned) */
  uint32_t n, capacity;
  uint32_t *unused; /* (owned) numbers of items */
  uint32_t n_unused, unused_capacity;
  uint32_t forgotten_at;   /* size of the numbers */
  uint64_t n_steps;        /* of all optimizers */
  td_number_map last_step; /* by optimizer: the number of its last step, from 1 */
  uint64_t n_found;
  td_finding first; /* its text is NULL until its node has a name */
  uint32_t label;   /* of its leaf */
  uint32_t n_runs;
} td_find_stale;

void td_find_stale_make(td_find_stale *self, const td_event_node_new *event, const char *name);
void td_find_stale_link(td_find_stale *self, const td_event_edge_new *event);
void td_find_stale_free_node(td_find_stale *self, uint32_t node);
void td_find_stale_step(td_find_stale *self, uint32_t optimizer);
void td_find_stale_run(td_find_stale *self, const td_find_leaves *leaves, uint32_t node,
                       uint64_t seq);

/* td_find_stale_learn takes names of a segment's nodes. td_find_stale_tell adds what was found. */
void td_find_stale_learn(td_find_stale *self, const td_catalog *catalog);
void td_find_stale_tell(td_find_stale *self, td_tape *tape, td_findings *findings);
void td_find_stale_fini(td_find_stale *self);
