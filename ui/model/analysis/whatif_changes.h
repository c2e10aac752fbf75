/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Changes of durations as people type them. Any thread. */
#pragma once

#include "engine/profile/model/whatif.h"

#include <glib.h>

/* td_whatif_read_changes appends a td_scaling for each word: "AddmmBackward0=0.5" or "#12=0". The
 * words "lock", "gil" and "hook" add 1 << TD_FREE_lock and so on to *frees, as `--free` does. The
 * scalings borrow from the words, which it changes. TD_OUT_OF_RANGE at what is neither. */
td_status td_whatif_read_changes(GStrv words, GArray *scalings, unsigned *frees, td_error *error);
