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
  const td_node_now *now = td_state_node(state, node);
  bool any = graph_task == TD_NONE;
  uint32_t task = td_state_task_at(state, node, any ? now->graph_task : graph_task);
  if (any && task == TD_NONE) task = now->task;
  return task == TD_NONE ? NULL : td_state_task(state, task);
}
