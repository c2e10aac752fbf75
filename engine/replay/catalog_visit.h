/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Going through a tape with the names of what its events are about, in the memory of one segment.
 * The thread that owns the tape. */
#pragma once

#include "engine/replay/catalog.h"

/* Called with the events to look at, and a catalog that is valid for the call and knows them. What
 * it returns ends the walk unless it is TD_OK. */
typedef td_status (*td_catalog_visitor)(const td_catalog *catalog, uint64_t first, uint64_t end,
                                        void *data, td_error *error);

/* td_catalog_visit calls a function for the events from `first` on and before `end`: for each
 * segment in turn, and at least once. From a damaged keyframe on, it goes through the rest with the
 * catalog of the whole tape. As td_catalog_collect. */
td_status td_catalog_visit(td_tape *tape, uint64_t first, uint64_t end, td_catalog_visitor visit,
                           void *data, td_error *error);

/* Called with each event, and a catalog that is valid for the call and knows what it names. */
typedef void (*td_event_visitor)(const td_catalog *catalog, const td_any_event *event, void *data);

/* td_catalog_visit_events calls a function for each readable event of a tape. As td_catalog_visit.
 */
td_status td_catalog_visit_events(td_tape *tape, td_event_visitor visit, void *data,
                                  td_error *error);
