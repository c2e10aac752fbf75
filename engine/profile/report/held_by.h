/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Who holds memory]
 * A tape tells when memory is taken up. For most of it, the tape also tells when it is let go.
 *
 * - A saved tensor, from saved_tensor until its node's release or node_free. If a probe tells no
 *   release, it is the node's end in a pass without keep_graph. Tensors with one version counter
 *   share a storage, which counts once, as large as the largest of them. On PyTorch's tapes a node
 *   tells what it saved when a pass first reaches it.
 * - A buffer, from the first gradient until its node's function has returned. A gradient that is
 *   added to another one takes no memory of its own.
 * - The .grad of a leaf, from accumulate on. No event says that a program sets it to None. So it
 *   counts until the next gradient finds nothing there. If the leaf has no name, it counts at most
 *   until its node is freed. A captured gradient counts until its pass is over: then it is the
 *   program's.
 *
 * All processes of a joined tape count together. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/profile/report/holdings.h"
#include "engine/replay/catalog.h"

/* Numbers of holdings by key: 1 + the number, 0 if there is none. */
typedef struct td_held_map {
  td_number_map map;
  uint32_t n_zeros; /* about so many keys without a holding */
} td_held_map;

/* Zero-initialise, but for `infers_release`. */
typedef struct td_held_by {
  bool infers_release; /* from the ends of nodes */
  td_holdings holdings;
  td_held_map by_node;    /* its saved tensors, linked by `next` */
  td_held_map by_counter; /* the tensor that stands for its storage */
  td_held_map by_task;    /* the buffer of a node in a graph task */
  td_held_map by_pass;    /* a buffer or captured gradient of a graph task */
  td_held_map by_leaf;    /* its gradient */
  td_text_table names;    /* of leaves */
  td_number_map expected; /* by node and input: 1 + bytes of its gradient, of the segment */
  uint32_t n_expected;    /* pieces of metadata of its catalog that the map has */
} td_held_by;

/* td_held_by_apply takes event number `seq`. The catalog is that of the event's segment, and may be
 * known up to the event only. */
void td_held_by_apply(td_held_by *self, const td_catalog *catalog, const td_any_event *event,
                      uint64_t seq);

/* td_held_by_may_shift tells whether an event of that kind can let memory go, or give it to another
 * group. */
bool td_held_by_may_shift(td_event_kind kind);

/* td_held_by_end_segment says that the next event has another catalog. */
void td_held_by_end_segment(td_held_by *self);

void td_held_by_fini(td_held_by *self);
