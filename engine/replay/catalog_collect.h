/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Collecting the catalog of a segment, or of a whole tape: one pass over its events. The thread
 * that owns the tape. */
#pragma once

#include "engine/replay/catalog.h"

/* td_catalog_collect reads the segment once. A node or graph
 * task that no event declared gets an empty entry if an event names it. The number of nodes, that
 * of graph tasks, and the ids of threads and queues have a limit, which follows the number of
 * events. TD_DAMAGED for a tape that goes beyond it. The catalog borrows strings from the tape,
 * which must outlive it. */
td_status td_catalog_collect(td_tape *tape, const td_segment *segment, td_catalog **catalog,
                             td_error *error);

/* td_catalog_collect_along does so too, and shows each event of the segment to a listener, in
 * order: not those of the keyframe. So one pass serves both. The listener may ask nothing of the
 * tape. */
typedef void (*td_catalog_listener)(const td_any_event *event, uint64_t seq, void *data);
td_status td_catalog_collect_along(td_tape *tape, const td_segment *segment,
                                   td_catalog_listener listener, void *data, td_catalog **catalog,
                                   td_error *error);

/* td_catalog_collect_whole is the same for the whole tape. */
td_status td_catalog_collect_whole(td_tape *tape, td_catalog **catalog, td_error *error);
