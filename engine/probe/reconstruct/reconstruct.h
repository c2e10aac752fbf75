/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What follows from what hooks can see. Hooks see the graph, the calls of backward, and where each
 * node begins and ends. Dependencies, queues, buffers and counts follow by the engine's rules: Note
 * [Reconstruction] in reconstruct.c. Any thread. Each call holds one lock, calls nobody back, and
 * stamps its events under that lock. */
#pragma once

#include "engine/probe/reconstruct/seen.h"

typedef struct td_reconstruct_options {
  bool sums_in_place; /* PyTorch 2: a sum goes into the first gradient if nobody can see that */
  bool queues_known;  /* sequence numbers are known; without them there is no order of queues */
} td_reconstruct_options;

/* td_reconstruct_start begins a recording. It forgets what an earlier recording, or the parent of
 * this fork, had under way. */
void td_reconstruct_start(td_reconstruct_options options);

/* td_reconstruct_node puts a node on the tape and returns its number. Its children are known
 * already. td_reconstruct_node_free: PyTorch freed the node. */
uint32_t td_reconstruct_node(const td_seen_node *seen);
void td_reconstruct_node_free(uint32_t node);

/* td_reconstruct_pass_begin: the calling thread calls backward. The return value is the number of
 * the call. The pass enters the tape when its first node begins, or when it ends well. So arguments
 * that the engine refuses leave no pass on the tape. */
uint32_t td_reconstruct_pass_begin(const td_seen_pass *seen);

/* td_reconstruct_pass_end: backward returns (error NULL), or raises these words. Returns the graph
 * task, or TD_NONE if it never began. */
uint32_t td_reconstruct_pass_end(uint32_t pass, const char *error);

/* td_reconstruct_begin: the calling thread calls a node's function. `engine_task` is the engine's
 * own number of the pass, or -1. Returns the graph task, or TD_NONE if no known pass wants the
 * node. *is_root: the caller of backward gave the node a gradient. */
uint32_t td_reconstruct_begin(uint32_t node, int64_t engine_task, bool *is_root);

/* td_reconstruct_end: the node's function returned these gradients. */
void td_reconstruct_end(uint32_t node, const td_seen_gradient *gradients, uint32_t n);
