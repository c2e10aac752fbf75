/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who wrote into a tensor that a node had saved. Any thread that owns the tape's reader. */
#pragma once

#include "engine/replay/catalog.h"

/* td_conflict_find_write returns the write that made the version after the saved one. False
 * if the tape does not have that write. */
bool td_conflict_find_write(const td_catalog *catalog, td_tape *tape,
                            const td_event_version_conflict *conflict,
                            td_event_tensor_write *write);

/* td_conflict_meaning says what a version conflict means and how to mend it. The caller frees. */
char *td_conflict_meaning(const td_catalog *catalog, td_tape *tape,
                          const td_event_version_conflict *conflict);
