/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/edge_crowd.h"

#include "engine/base/alloc.h"

#include <math.h>

/* So many strokes are no burden. */
enum { FEW = 400 };

/* Points nearer than this look like one. Outside of the view, places grow with their distance: so
 * many of them are in each doubling. */
#define PIXELS 2
#define PLACES_IN_OCTAVE 16

void
td_edge_crowd_init(td_edge_crowd *self, uint32_t n) {
  *self = (td_edge_crowd){0};
  if (n <= FEW) return;
  uint32_t size = 1024;
  while (size < 2 * n)
    size *= 2;
  self->keys = TD_NEW_N(uint64_t, size);
  self->mask = size - 1;
}

void
td_edge_crowd_fini(td_edge_crowd *self) {
  free(self->keys);
}

static int32_t
place(double at, double from, double to, double pixel) {
  double extent = to - from, beyond = at > to ? at - to : from - at;
  if (beyond <= 0) return (int32_t)((at - from) / (PIXELS * pixel));
  int32_t outside = 1 + (int32_t)(PLACES_IN_OCTAVE * log2(1 + beyond / extent));
  return at > to ? 0x10000 + outside : -outside;
}

static uint64_t
mix(uint64_t hash, int32_t value) {
  hash = (hash ^ (uint32_t)value) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

static uint64_t
key_of(const td_scene_draw *draw, uint32_t edge) {
  const td_layout *layout = draw->scene->layout;
  double pixel = 1 / draw->view->scale;
  uint64_t key = layout->route[edge];
  for (uint32_t k = layout->first_point[edge]; k < layout->first_point[edge + 1]; k++) {
    key = mix(key, place(layout->points[k].x, draw->left, draw->right, pixel));
    key = mix(key, place(layout->points[k].y, draw->top, draw->bottom, pixel));
  }
  return key | 1;
}

bool
td_edge_crowd_take(td_edge_crowd *self, const td_scene_draw *draw, uint32_t edge) {
  if (!self->keys) return true;
  uint64_t key = key_of(draw, edge);
  uint32_t at = (uint32_t)(key >> 20) & self->mask;
  for (; self->keys[at]; at = (at + 1) & self->mask)
    if (self->keys[at] == key) return false;
  self->keys[at] = key;
  return true;
}
