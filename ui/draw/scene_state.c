/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/draw/scene.h"

#include <string.h>

bool
td_scene_pass_begun(const td_graph_scene *scene, const td_state *state) {
  return scene->graph_task == TD_NONE || td_state_graph_task(state, scene->graph_task)->status != 0;
}

bool
td_scene_pass_goes_on(const td_graph_scene *scene, const td_state *state) {
  return scene->graph_task == TD_NONE ||
         td_state_graph_task(state, scene->graph_task)->status <= TD_PASS_RUNNING;
}

static bool
is_ended(uint32_t state) {
  return state == TD_NODE_done || state == TD_NODE_skipped || state == TD_NODE_captured ||
         state == TD_NODE_failed;
}

typedef struct doing {
  uint32_t state, before, thread;
} doing;

/* As td_state_pair, but without times: a frame asks for each node several times. */
static doing
look_up(const td_scene_draw *draw, uint32_t node) {
  const td_node_now *own = td_state_node(draw->state, node);
  bool is_in_none = own->graph_task == TD_NONE && draw->pass_goes_on &&
                    (own->state == TD_NODE_created || own->state == TD_NODE_absent);
  if (own->graph_task == draw->scene->graph_task || is_in_none)
    return (doing){own->state, own->before, own->thread};
  td_pair_now pair = td_state_pair(draw->state, node, draw->scene->graph_task);
  return (doing){pair.state, pair.before, pair.thread};
}

uint32_t
td_scene_runner_of(const td_scene_draw *draw, uint32_t node) {
  return look_up(draw, node).thread;
}

td_node_state
td_scene_state_of(const td_scene_draw *draw, uint32_t node) {
  doing now = look_up(draw, node);
  if (now.state == TD_NODE_released && now.before == TD_NODE_failed) return TD_NODE_failed;
  return is_ended(now.state) && !draw->pass_begun ? TD_NODE_created : (td_node_state)now.state;
}

void
td_scene_count_states(const td_scene_draw *draw, const td_scene_block *block,
                      uint32_t n[TD_N_NODE_STATES]) {
  memset(n, 0, TD_N_NODE_STATES * sizeof *n);
  for (uint32_t i = 0; i < block->n_members; i++)
    n[td_scene_state_of(draw, draw->scene->members[block->first_member + i])]++;
}

static td_node_state
block_state(const td_scene_draw *draw, const td_scene_block *block) {
  static const td_node_state loud[] = {TD_NODE_failed, TD_NODE_running, TD_NODE_queued};
  uint32_t n[TD_N_NODE_STATES], n_ended;
  td_scene_count_states(draw, block, n);
  for (size_t i = 0; i < TD_N_ELEMENTS(loud); i++)
    if (n[loud[i]]) return loud[i];
  td_node_state first = td_scene_state_of(draw, draw->scene->members[block->first_member]);
  n_ended = n[TD_NODE_done] + n[TD_NODE_skipped] + n[TD_NODE_captured] + n[TD_NODE_released];
  if (n[TD_NODE_released] == block->n_members) return TD_NODE_released;
  if (n_ended == block->n_members) return TD_NODE_done;
  return n[TD_NODE_partial] || n_ended > n[TD_NODE_released] ? TD_NODE_partial
         : first == TD_NODE_released                         ? TD_NODE_created
                                                             : first;
}

td_node_state
td_scene_state(const td_scene_draw *draw, uint32_t i) {
  const td_scene_block *block = td_scene_block_of(draw->scene, i);
  return block ? block_state(draw, block) : td_scene_state_of(draw, draw->scene->nodes[i].node);
}

static td_scene_doing
look_at(const td_scene_draw *draw, uint32_t node) {
  const td_node_now *now = td_state_node(draw->state, node);
  doing pair = look_up(draw, node);
  return (td_scene_doing){node, pair.thread, pair.state == TD_NODE_running, now->anomaly,
                          now->birthplace};
}

td_scene_doing
td_scene_now(const td_scene_draw *draw, uint32_t i) {
  const td_scene_block *block = td_scene_block_of(draw->scene, i);
  td_scene_doing found = look_at(draw, draw->scene->nodes[i].node);
  for (uint32_t k = 0; block && k < block->n_members && !found.anomaly; k++) {
    td_scene_doing now = look_at(draw, draw->scene->members[block->first_member + k]);
    if (now.anomaly || (now.runs && !found.runs)) found = now;
  }
  return found;
}
