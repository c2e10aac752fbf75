/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/scene.h"

bool
td_scene_pass_begun(const td_graph_scene *scene, const td_state *state) {
  return scene->graph_task == TD_NONE || td_state_graph_task(state, scene->graph_task)->status != 0;
}

static bool
is_ended(uint32_t state) {
  return state == TD_NODE_done || state == TD_NODE_skipped || state == TD_NODE_captured ||
         state == TD_NODE_failed;
}

td_node_state
td_scene_state(const td_scene_draw *draw, uint32_t i) {
  const td_node_now *now = td_scene_now(draw, i);
  if (now->state == TD_NODE_released && now->before == TD_NODE_failed) return TD_NODE_failed;
  return is_ended(now->state) && !draw->pass_begun ? TD_NODE_created : now->state;
}
