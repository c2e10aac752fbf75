/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What watching the real PyTorch costs. Main thread. */
#pragma once

/* td_bench_torch_choose says which Python's PyTorch is measured, NULL: "python3". Borrowed. Without
 * this call the figures are skipped, for they take a minute. */
void td_bench_torch_choose(const char *python);

/* td_bench_torch_chosen returns that Python, NULL without the call. */
const char *td_bench_torch_chosen(void);
