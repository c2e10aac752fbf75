/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One of two passes that are paired: its nodes in the order of the forward pass (sequence_nr, and
 * leaves as they are first led to). A place is a number in that order. Private to engine/profile.
 */
#pragma once

#include "engine/profile/diff/inside_edges.h"

typedef struct td_pass_side {
  const td_visits *visits;
  const td_visit_task *task;
  const td_catalog *catalog;
  uint32_t *order;    /* (owned) by place: the visit */
  uint64_t *names;    /* (owned) by place: hash of the name */
  uint64_t *shapes;   /* (owned) by place; 0: unknown */
  uint32_t *partners; /* (borrowed) by visit: of the other side, or TD_NONE */
  uint32_t *places;   /* (borrowed) by the node's row */
  uint32_t *nodes;    /* (owned) [inside.n]: those of the pass, each once */
  td_inside inside;
  td_inside_edges edges; /* of the node at hand */
  uint32_t n, n_inner;   /* places; those before the leaves */
} td_pass_side;

/* td_pass_side_init lists the nodes of a task. Without by_number, the order in which they ran takes
 * the place of their numbers. `partners` and `places` are as for td_pairing_find. TD_OUT_OF_MEMORY.
 * td_pass_side_fini also makes the places TD_NONE again; call it even after a failure. */
td_status td_pass_side_init(td_pass_side *side, const td_visits *visits, const td_visit_task *task,
                            uint32_t *partners, uint32_t *places, bool by_number);
void td_pass_side_fini(td_pass_side *side);

/* td_pass_side_has_numbers says whether nodes of a task that are no leaves have different numbers,
 * if there are two such nodes. */
bool td_pass_side_has_numbers(const td_visits *visits, const td_visit_task *task);

/* td_pass_side_is_leaf says whether a visit is of a leaf. */
bool td_pass_side_is_leaf(const td_pass_side *side, uint32_t visit);

/* td_pass_side_node returns the node at a place, td_pass_side_row its row. */
static inline uint32_t
td_pass_side_node(const td_pass_side *side, uint32_t place) {
  return side->visits->visits[side->order[place]].node;
}

static inline uint32_t
td_pass_side_row(const td_pass_side *side, uint32_t place) {
  return side->visits->visits[side->order[place]].row;
}

/* td_pass_side_target returns the place of the node that an edge leads to. */
static inline uint32_t *
td_pass_side_target(const td_pass_side *side, const td_catalog_edge *edge) {
  return &side->places[td_catalog_node_row(side->catalog, edge->to)];
}
