/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/state.h"

static const char *const names[] = {
#define X(name) #name,
    TD_NODE_STATES(X)
#undef X
};

const char *
td_node_state_name(td_node_state state) {
  return names[state];
}

const td_task_now *
td_state_task_find(const td_state *state, uint32_t node, uint32_t graph_task) {
  uint32_t task = state->nodes[node].task;
  while (task != TD_NONE && graph_task != TD_NONE && state->tasks[task].graph_task != graph_task)
    task = state->tasks[task].next;
  return task == TD_NONE ? NULL : &state->tasks[task];
}
