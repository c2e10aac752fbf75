/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The longest common subsequence of two lists of keys: Myers 1986, "An O(ND) Difference Algorithm".
 * Any thread. */
#pragma once

#include "engine/base/status.h"

#include <stdint.h>

/* td_sequence_match writes, for each element of a, the place of its partner in b, or UINT32_MAX
 * where it has none. Partners are equal and stand in the same order on both sides. Linear in the
 * length where few elements differ. Where more than about a thousand in a row differ, the result is
 * a common subsequence that need not be the longest. `match` has room for n_a places.
 * TD_OUT_OF_MEMORY. */
td_status td_sequence_match(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b,
                            uint32_t *match);

/* td_sequence_rising returns the length of the longest rising subsequence of distinct places: what
 * kept its order. TD_OUT_OF_MEMORY. */
td_status td_sequence_rising(const uint32_t *places, uint32_t n, uint32_t *length);
