/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Packing of time spans into rows, so that no two in a row overlap. Pure; any thread. */
#pragma once

#include <stdint.h>

/* td_lanes_pack gives each of n spans, sorted by begin, the first row that is free at its begin,
 * writes it to rows and returns how many rows there are. Nested spans thereby get one row per
 * depth. */
uint32_t td_lanes_pack(uint32_t n, const uint64_t *begin, const uint64_t *end, uint32_t *rows);
