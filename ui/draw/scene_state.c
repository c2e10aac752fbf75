/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/scene.h"

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
