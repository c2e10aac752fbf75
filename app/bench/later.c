/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Figures of things that this version cannot do, so that nobody takes their absence for a pass. */
#include "app/bench/figure.h"

#include <glib.h>

void
td_bench_torch_tiny_ops(td_measured *measured) {
  measured->skipped = g_strdup("recording PyTorch's own engine is not there yet");
}

void
td_bench_torch_model(td_measured *measured) {
  td_bench_torch_tiny_ops(measured);
}
