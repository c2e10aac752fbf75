/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Parameters that no gradient reached. Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/profile/findings/finding.h"

#define TD_UNREACHED_NAMED 5

typedef struct td_find_unreached {
  uint32_t names[TD_UNREACHED_NAMED]; /* strings, of the first ones */
  uint64_t n, seq;                    /* of all; the first event */
} td_find_unreached;

void td_find_unreached_take(td_find_unreached *self, const td_event_no_gradient *event,
                            uint64_t seq);

/* td_find_unreached_tell adds what was found on the whole tape. */
void td_find_unreached_tell(const td_find_unreached *self, td_tape *tape, td_findings *findings);
