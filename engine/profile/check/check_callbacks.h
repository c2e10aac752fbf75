/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a check remembers of the final callbacks of one graph task. Private to engine/profile. One
 * thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct td_check_callbacks {
  uint32_t *owners; /* (owned) of those that were queued, in that order */
  size_t n_queued, capacity;
  size_t n_called;
} td_check_callbacks;

void td_check_callbacks_add(td_check_callbacks *callbacks, uint32_t owner);
void td_check_callbacks_fini(td_check_callbacks *callbacks);
