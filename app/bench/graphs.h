/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Graphs for measuring the engine. Their nodes do nothing, or are busy for a given time. Main
 * thread. */
#pragma once

#include "engine/torch/pass/engine.h"

/* td_bench_chain returns the end of a chain of n no-op nodes over a leaf (new reference). With
 * busy_ns, each node reads the clock for that long. */
td_tensor *td_bench_chain(uint32_t n, uint64_t busy_ns);

/* td_bench_net returns the end of a graph of about n nodes (new reference). It looks like a deep
 * net's graph: a trunk with skip connections, and a leaf at every other node. */
td_tensor *td_bench_net(uint32_t n);

/* td_bench_backward runs a pass from the end of a graph and returns the seconds that it took. */
double td_bench_backward(td_tensor *end, bool keep_graph);
