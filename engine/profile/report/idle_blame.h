/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who and what threads waited for: the culprits of a td_idle, while it is made. Private to
 * engine/profile. Zero-initialise all but `idle`. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/report/idle_parts.h"

typedef struct td_idle_blame {
  td_idle *idle;         /* (borrowed) */
  td_number_map numbers; /* by part and whom: 1 + the culprit */
} td_idle_blame;

/* td_idle_blame_* give ns of waiting to a culprit: a thread, a string (the name of a callback or of
 * a collective operation), or a stream. TD_NONE is nobody. */
void td_idle_blame_thread(td_idle_blame *blame, td_idle_part part, uint32_t thread, uint64_t ns);
void td_idle_blame_string(td_idle_blame *blame, td_idle_part part, uint32_t string, uint64_t ns);
void td_idle_blame_stream(td_idle_blame *blame, int32_t device, int32_t stream, uint64_t ns);

/* td_idle_blame_name names the culprits that have no name yet, with the catalog of the segment that
 * they are in. */
void td_idle_blame_name(td_idle_blame *blame, const td_catalog *catalog, td_tape *tape);

/* td_idle_blame_end adds the devices that threads slept for, and sorts all. */
void td_idle_blame_end(td_idle_blame *blame);
