/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What else happens while a catalog is collected. */
#pragma once

#include "engine/replay/catalog.h"

/* Gets an event of a segment whose catalog is being collected. The catalog so far has what the
 * event and those before it tell, without slices. The listener may ask nothing of the tape. */
typedef void (*td_catalog_listener)(const td_catalog *so_far, const td_any_event *event,
                                    uint64_t seq, void *data);

/* What td_catalog_collect_along does with each event. */
typedef struct td_catalog_along {
  td_catalog_listener listener;
  void *data;
  const bool *kinds; /* (borrowed) [TD_EVENT_LIMIT] that the catalog is made of; NULL: all */
  bool has_begun;    /* set once the keyframe is read: the listener may have got events */
} td_catalog_along;
