/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A quantity that changes in steps, as the length of a queue does, and its greatest value in a
 * stretch of time. Pure functions; any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The quantity from a time on. There are two of them for each node that ran. */
typedef struct __attribute__((packed, aligned(4))) td_sample {
  uint64_t time;
  uint32_t value;
} td_sample;

/* td_peaks_new returns the greatest value of each block of samples; the caller frees it. With it,
 * td_peaks_most costs two blocks, however many samples there are. */
uint32_t *td_peaks_new(const td_sample *samples, size_t n);

/* td_peaks_most returns the greatest value from a time on and before another one. Before the first
 * sample the value is 0. */
uint32_t td_peaks_most(const td_sample *samples, const uint32_t *peaks, size_t n, double from_ns,
                       double to_ns);

/* td_sample_after returns the index of the first sample after a time (n if there is none). */
size_t td_sample_after(const td_sample *samples, size_t n, double ns);
