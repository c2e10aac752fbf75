/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a tape that is cut into segments says of itself as a whole: passes, steps, problems, threads
 * and queues, but few nodes. The documents of all its segments share one outline. A worker makes
 * it. Later its catalog belongs to nobody, and its tape to the main thread. */
#pragma once

#include "engine/replay/catalog.h"

typedef struct td_outline td_outline;

/* td_outline_new opens the tape once more and reads its outline. Fails as td_tape_open and
 * td_catalog_collect. The caller owns a reference. */
td_status td_outline_new(const char *path, td_outline **outline, td_error *error);
td_outline *td_outline_ref(td_outline *outline);
void td_outline_unref(td_outline *outline);

const td_catalog *td_outline_catalog(const td_outline *outline);
td_tape *td_outline_tape(td_outline *outline);

/* td_outline_check returns TD_IO if a tape is not the one that the outline is of: another file may
 * have its name by now. */
td_status td_outline_check(const td_outline *outline, const td_tape *tape, td_error *error);
