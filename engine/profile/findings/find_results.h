/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Gradients that a program asks for and that no path leads to. A program may allow that, so only
 * the last pass of a program that failed counts. Private to engine/profile/findings.
 * Zero-initialise. */
#pragma once

#include "engine/profile/findings/finding.h"

typedef struct td_find_results {
  uint32_t *wanted; /* (owned) nodes of the last outermost pass whose gradient is to be kept */
  uint32_t n, capacity;
  uint32_t graph_task, root;
  bool is_over;                       /* it ended well */
  uint64_t seq;                       /* of its end */
  char *root_name, *node_name, *line; /* (owned) of the first that is left, or NULL */
} td_find_results;

void td_find_results_begin_pass(td_find_results *self, const td_event_graph_task_begin *event);
void td_find_results_want(td_find_results *self, const td_event_exec_info *event);
void td_find_results_take(td_find_results *self, const td_event_capture *event);
void td_find_results_end_pass(td_find_results *self, const td_event_graph_task_end *event,
                              uint64_t seq);

/* td_find_results_learn takes names of a segment's nodes. td_find_results_tell adds what was found.
 */
void td_find_results_learn(td_find_results *self, const td_catalog *catalog);
void td_find_results_tell(const td_find_results *self, td_findings *findings);
void td_find_results_fini(td_find_results *self);
