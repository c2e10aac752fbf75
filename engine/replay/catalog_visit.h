/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Going through a tape with the names of what its events are about, in the memory of one segment.
 * The thread that owns the tape. */
#pragma once

#include "engine/replay/catalog_collect.h"

/* Called with the events to look at, and a catalog that is valid for the call and knows them. What
 * it returns ends the walk unless it is TD_OK. */
typedef td_status (*td_catalog_visitor)(const td_catalog *catalog, uint64_t first, uint64_t end,
                                        void *data, td_error *error);

/* td_catalog_visit calls a function for the events from `first` on and before `end`: for each
 * segment in turn, and at least once. From a damaged keyframe on, it goes through the rest with the
 * catalog of the whole tape. TD_INVALID, "cancelled", if td_tape_goes_on says no after a segment;
 * else as td_catalog_collect. */
td_status td_catalog_visit(td_tape *tape, uint64_t first, uint64_t end, td_catalog_visitor visit,
                           void *data, td_error *error);

/* td_catalog_visit_along shows each readable event of a tape to a listener. After each segment it
 * calls a function with the catalog of the segment and the numbers of the events. So one pass over
 * the tape serves both. `visit` gets the listener's data. As td_catalog_visit. */
td_status td_catalog_visit_along(td_tape *tape, td_catalog_along *along, td_catalog_visitor visit,
                                 td_error *error);
