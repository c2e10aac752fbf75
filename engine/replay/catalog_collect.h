/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Collecting the catalog of a segment, or of a whole tape: one pass over its events. The thread
 * that owns the tape. */
#pragma once

#include "engine/replay/catalog_along.h"

/* td_catalog_collect reads the segment once. A node or graph
 * task that no event declared gets an empty entry if an event names it. The number of nodes, that
 * of graph tasks, and the ids of threads and queues have a limit, which follows the number of
 * events. TD_DAMAGED for a tape that goes beyond it. The catalog borrows strings from the tape,
 * which must outlive it. */
td_status td_catalog_collect(td_tape *tape, const td_segment *segment, td_catalog **catalog,
                             td_error *error);

/* td_catalog_collect_along collects a catalog too, and shows each event of the segment to a
 * listener, in order: not those of the keyframe. So one pass serves both. A catalog of few kinds of
 * events costs little. It knows what these name, and all threads. */
td_status td_catalog_collect_along(td_tape *tape, const td_segment *segment,
                                   td_catalog_along *along, td_catalog **catalog, td_error *error);

/* Collecting beside something else that looks at each event of a segment. td_collecting_new begins;
 * segment and error must outlive it. td_collecting_take takes an event: first those of the
 * keyframe, then the others, in order. td_collecting_end makes the catalog of what was taken, or
 * frees it after an error. It frees `collecting` in any case. As td_catalog_collect. */
typedef struct td_catalog_builder td_collecting;
td_status td_collecting_new(td_tape *tape, const td_segment *segment, td_collecting **collecting,
                            td_error *error);
td_status td_collecting_take(td_collecting *collecting, const td_any_event *event, uint64_t seq);
td_status td_collecting_end(td_collecting *collecting, td_status status, td_catalog **catalog);

/* td_collecting_catalog returns the catalog so far. It has each id that events named, in rows that
 * are not in order yet. Of its slices it has none. */
const td_catalog *td_collecting_catalog(const td_collecting *collecting);

/* td_collecting_is_late tells whether a fact that orders tasks came too late. Earlier events
 * already pushed or popped a task of that node, graph task or queue. */
bool td_collecting_is_late(const td_collecting *collecting);

/* td_catalog_collect_whole is the same for the whole tape. */
td_status td_catalog_collect_whole(td_tape *tape, td_catalog **catalog, td_error *error);
