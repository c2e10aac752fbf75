/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cost of recording the real PyTorch. Main thread. */
#pragma once

/* td_bench_torch_choose says which Python has the PyTorch to measure; NULL is "python3".
 * Borrowed. Without this call the figures are skipped, because they take a minute. */
void td_bench_torch_choose(const char *python);

/* td_bench_torch_chosen returns that Python, or NULL without the call. */
const char *td_bench_torch_chosen(void);
