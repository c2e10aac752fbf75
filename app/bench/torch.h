/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The real PyTorch: the cost of recording it, and a peer for the own engine. Main thread. */
#pragma once

/* td_bench_torch_choose says which Python has the PyTorch to measure; NULL is "python3".
 * Borrowed. Without this call the figures are skipped, because they take a minute. */
void td_bench_torch_choose(const char *python);

/* td_bench_torch_chosen returns that Python, or NULL without the call. */
const char *td_bench_torch_chosen(void);

/* td_bench_torch_missing returns why a Python has no PyTorch (owned), or NULL. The first time it
 * prints the version. */
char *td_bench_torch_missing(const char *python);
