/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Many edges that would look like one. A hub with 10,000 edges in view has most of them side by
 * side: they leave the view within a pixel of each other. Of such edges only the first is worth its
 * stroke. One thread. */
#pragma once

#include "ui/draw/scene.h"

typedef struct td_edge_crowd {
  uint64_t *keys; /* (owned) a hash table; 0: free */
  uint32_t mask;
} td_edge_crowd;

/* td_edge_crowd_init makes room for n edges. With few edges there is no crowd, and each is taken.
 */
void td_edge_crowd_init(td_edge_crowd *self, uint32_t n);
void td_edge_crowd_fini(td_edge_crowd *self);

/* td_edge_crowd_take tells whether a scene's edge looks other than all that were taken before. */
bool td_edge_crowd_take(td_edge_crowd *self, const td_scene_draw *draw, uint32_t edge);
