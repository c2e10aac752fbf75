/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Going through a tape for an export: all events, and each node once, in the memory of one segment.
 * The thread that owns the tape. */
#pragma once

#include "engine/exchange/export.h"
#include "engine/replay/catalog.h"

/* Functions may be NULL. Catalogs are valid for the call and know what an event or a node names. */
typedef struct td_walk_listener {
  void (*event)(const td_catalog *catalog, uint64_t seq, const td_any_event *event, void *data);
  void (*node)(const td_catalog *catalog, const td_catalog_node *node, void *data);
  void (*whole)(const td_catalog *catalog, uint64_t first, uint64_t end, void *data);
  void *data;
} td_walk_listener;

/* td_tape_walk tells events in their order. It tells a node when all its facts are known: behind
 * the events of the segment in which it was freed, or at the end. With a pass as the wish, it tells
 * the events from the begin to the end of the pass, and the nodes that they name. Behind a damaged
 * keyframe it may tell a node again. At last, `whole` gets a catalog that has all threads, queues
 * and passes. It also gets the numbers of the first event and of the one behind the last. Results
 * are those of td_export_dot. */
td_status td_tape_walk(td_tape *tape, const td_export_wish *wish, const td_walk_listener *listener,
                       td_error *error);

/* td_tape_find_pass writes the events from which to which a wish reaches: the number of the first
 * and the number behind the last. */
td_status td_tape_find_pass(td_tape *tape, const td_export_wish *wish, uint64_t *first,
                            uint64_t *end, td_error *error);
