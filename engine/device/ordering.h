/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ordering: what has certainly happened before what, by vector clocks over streams. A stream counts
 * its kernels; its clock says how many kernels of each stream come before the next one that it will
 * run. Recording an event copies the stream's clock, waiting for it takes the greater of both in
 * each place, and so does a host thread that synchronizes, before what it launches from then on.
 * The host counts as one: all its threads together. (Lamport 1978, Mattern 1989.) Whoever owns a
 * clock guards it. */
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

/* td_ordering_join puts behind everything that `other` is behind. */
void td_ordering_join(td_ordering *ordering, const td_ordering *other);

/* td_ordering_has tells whether the stream's kernel of that number comes before. */
bool td_ordering_has(const td_ordering *ordering, uint32_t stream, uint64_t kernel);
