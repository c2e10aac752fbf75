/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Collecting a tape's catalog: one pass over all events. The thread that owns the tape. */
#pragma once

#include "engine/replay/catalog.h"

/* td_catalog_collect reads the whole tape once. An id that no event declared gets an empty entry.
 * An id beyond what the tape's own counts allow is TD_DAMAGED. The catalog borrows strings from the
 * tape, which must outlive it. */
td_status td_catalog_collect(td_tape *tape, td_catalog **catalog, td_error *error);
