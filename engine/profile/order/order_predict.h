/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Predicted order]
 *
 * In which order a pass runs its nodes, by the engine's rules on the graph alone: those of
 * engine/rules/machine.h, not timed. Each ready queue has one thread. All nodes take equally long,
 * and a thread that sleeps wakes when the node that pushed has handed on all its gradients.
 *
 * With one queue, no time counts, so the order is the engine's. With several, it is a guess about
 * who is first. What is taken from the tape beside the graph: which queue a node entered, and which
 * node called which pass. Any thread. */
#pragma once

#include "engine/profile/order/pass_graph.h"

/* td_order_predict writes the places of nodes in the order in which they will be popped, *n of
 * them. The caller frees the array. */
uint32_t *td_order_predict(const td_pass_graph *graph, const td_catalog *catalog, uint32_t *n);
