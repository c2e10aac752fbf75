/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What tracks are called, and whose they are. Any thread. */
#pragma once

#include "engine/exchange/track_sink.h"
#include "engine/replay/catalog.h"

typedef enum td_track_role {
  TD_ROLE_THREAD,
  TD_ROLE_PASSES, /* by owner */
  TD_ROLE_STREAM, /* by device */
  TD_ROLE_QUEUE
} td_track_role;

typedef struct td_track_texts {
  char *name, *process; /* (owned) */
} td_track_texts;

/* td_track_describe returns a track without its number. It borrows from `texts`. */
td_track td_track_describe(const td_catalog *catalog, td_track_role role, uint32_t id,
                           int32_t stream, td_track_texts *texts);
void td_track_texts_fini(td_track_texts *texts);
