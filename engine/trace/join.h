/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Joining: the tapes of several processes become one, as if one recorder had seen them all. Every
 * event of each part is on it once, in the part's order, with ids that no other part uses. The wall
 * clocks in the headers match the times. `process_new` says how far that may be wrong. Any
 * thread. */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* td_join writes the tapes at `paths` into a new one at `path`, whose processes are in that order.
 * If a part lacks its end, the joined tape has no trailer either. td_join refuses a part that is
 * damaged elsewhere and leaves nothing at `path`. The error names the part. TD_IO,
 * TD_NOT_A_TAPE, TD_UNSUPPORTED, TD_DAMAGED, TD_OUT_OF_MEMORY. */
td_status td_join(const char *const *paths, size_t n, const char *path, bool overwrite,
                  td_error *error);

/* td_join_gone does the same. `gone_ns` has the wall clock's time at which the process of each part
 * was gone, 0 if that is not known. A part that lacks its end gets a `process_gone` there. */
td_status td_join_gone(const char *const *paths, const uint64_t *gone_ns, size_t n,
                       const char *path, bool overwrite, td_error *error);
