/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ordering: what has certainly happened before what, by vector clocks over streams (Lamport 1978,
 * Mattern 1989). A stream counts its kernels. Its clock says how many kernels of each stream come
 * before its next kernel. An event has a copy of its stream's clock. A stream that waits for the
 * event takes the greater count in each place. So does the host when it synchronizes, and what it
 * launches from then on comes after. All host threads count as one. The owner of a clock guards it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct td_ordering {
  uint64_t *counts; /* (owned) [n] by the number of a stream in the process */
  uint32_t n;
} td_ordering;

void td_ordering_fini(td_ordering *ordering);

/* td_ordering_tick counts one more kernel of `stream` and returns its number, from 1. */
uint64_t td_ordering_tick(td_ordering *ordering, uint32_t stream);

/* td_ordering_join puts an ordering behind everything that `other` is behind. */
void td_ordering_join(td_ordering *ordering, const td_ordering *other);

/* td_ordering_has tells whether the stream's kernel with this number comes before. */
bool td_ordering_has(const td_ordering *ordering, uint32_t stream, uint64_t kernel);
