/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nodes that get the same gradients in another order than in the outermost pass before. Private to
 * engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/find_kept.h"

/* Gradients that a node got in a pass. */
typedef struct td_arrivals {
  uint32_t pass; /* number, from 1 */
  uint32_t n;
  uint64_t of_all, in_order; /* hashes of where they came from: in any order, and in theirs */
  uint64_t seq;              /* of the first one */
} td_arrivals;

typedef struct td_arrival_slot {
  uint32_t node; /* in the pass of `now` */
  td_arrivals now, before;
} td_arrival_slot;

typedef struct td_arrival_slots {
  td_arrival_slot *items; /* (owned) */
  uint32_t n, capacity;
} td_arrival_slots;

typedef struct td_find_orders {
  td_arrival_slots made;   /* of nodes made since the last pass: by how many were made before */
  td_arrival_slots older;  /* of others, as leaves are */
  td_number_map number_of; /* of those, by id: 1 + the slot */
  uint32_t *touched;       /* (owned) made slots in this pass, and ~ older ones */
  uint32_t n_touched, touched_capacity;
  uint32_t pass, n_under_way;
  bool is_mixed; /* another pass was under way at the same time */
  uint32_t graph_task, graph_task_before;
  /* what was found: */
  uint64_t n_found;
  uint32_t n_gradients;
  td_finding first; /* its text is NULL until its node has a name */
} td_find_orders;

void td_find_orders_begin_pass(td_find_orders *self, uint32_t graph_task);

/* td_find_orders_take takes a gradient's arrival. The period is the one under way, or NULL. */
void td_find_orders_take(td_find_orders *self, const td_event_buffer_add *event, uint64_t seq,
                         const td_period *period);
void td_find_orders_end_pass(td_find_orders *self);

/* td_find_orders_learn takes names of a segment's nodes. td_find_orders_tell adds what was found.
 */
void td_find_orders_learn(td_find_orders *self, const td_catalog *catalog);
void td_find_orders_tell(td_find_orders *self, td_findings *findings);
void td_find_orders_fini(td_find_orders *self);
