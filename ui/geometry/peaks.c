/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/peaks.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

#include <stdbool.h>

enum { BLOCK = 256 };

uint32_t *
td_peaks_new(const td_sample *samples, size_t n) {
  uint32_t *peaks = TD_NEW_N(uint32_t, n / BLOCK + 1);
  for (size_t i = 0; i < n; i++)
    peaks[i / BLOCK] = TD_MAX(peaks[i / BLOCK], samples[i].value);
  return peaks;
}

size_t
td_sample_after(const td_sample *samples, size_t n, double ns) {
  size_t at;
  TD_BISECT(at, 0, n, (double)samples[at].time <= ns);
  return at;
}

uint32_t
td_peaks_most(const td_sample *samples, const uint32_t *peaks, size_t n, double from_ns,
              double to_ns) {
  size_t at = td_sample_after(samples, n, from_ns), end;
  TD_BISECT(end, at, n, (double)samples[end].time < to_ns);
  uint32_t most = at ? samples[at - 1].value : 0;
  while (at < end) {
    bool is_block = at % BLOCK == 0 && end - at >= BLOCK;
    most = TD_MAX(most, is_block ? peaks[at / BLOCK] : samples[at].value);
    at += is_block ? BLOCK : 1;
  }
  return most;
}
