/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/graph_glide.h"

#include "engine/base/alloc.h"
#include "ui/draw/scene.h"

#include <math.h>
#include <string.h>

/* A scene with places of its own. It shares the rest with the scene that it is a copy of. */
typedef struct moved_scene {
  td_graph_scene scene;
  td_layout layout;
  const td_layout *own; /* (borrowed) where all is in the scene itself */
  float *way_x, *way_y; /* (owned) [n_nodes] from there to the place in the other scene */
  float left, top;      /* where the scene's own corner is */
} moved_scene;

struct td_graph_glide {
  moved_scene from, to;
  double share;
};

static void
copy_scene(moved_scene *self, const td_graph_scene *scene) {
  const td_layout *own = self->own = scene->layout;
  uint32_t n_points = own->first_point[own->n_edges];
  self->scene = *scene;
  self->layout = *own;
  self->scene.layout = &self->layout;
  self->scene.totals = NULL;
  self->scene.edges = TD_NEW_N(td_scene_edge, scene->n_edges);
  memcpy(self->scene.edges, scene->edges, scene->n_edges * sizeof *scene->edges);
  self->layout.x = TD_NEW_N(float, own->n_nodes);
  self->layout.y = TD_NEW_N(float, own->n_nodes);
  self->layout.points = TD_NEW_N(td_layout_point, n_points);
  self->way_x = TD_NEW_N(float, own->n_nodes);
  self->way_y = TD_NEW_N(float, own->n_nodes);
}

static void
fini_scene(moved_scene *self) {
  void *owned[] = {self->scene.totals,  self->scene.edges, self->layout.x, self->layout.y,
                   self->layout.points, self->way_x,       self->way_y};
  for (size_t i = 0; i < TD_N_ELEMENTS(owned); i++)
    free(owned[i]);
}

/* A node that the other scene lacks stays. */
static void
find_ways(moved_scene *self, const moved_scene *other) {
  for (uint32_t i = 0; i < self->scene.n_nodes; i++) {
    uint32_t there = td_scene_find(&other->scene, self->scene.nodes[i].node);
    if (there == TD_NONE) continue;
    self->way_x[i] = other->left + other->own->x[there] - self->left - self->own->x[i];
    self->way_y[i] = other->top + other->own->y[there] - self->top - self->own->y[i];
  }
}

/* The points of an edge go with its ends: each the more like an end, the nearer to it. */
static void
move_edge(moved_scene *self, uint32_t edge, float share) {
  const td_layout *own = self->own;
  uint32_t first = own->first_point[edge], n = own->first_point[edge + 1] - first;
  uint32_t from = self->scene.edges[edge].from, to = self->scene.edges[edge].to;
  for (uint32_t k = 0; k < n; k++) {
    float along = n > 1 ? (float)k / (float)(n - 1) : 0;
    float way_x = self->way_x[from] + (self->way_x[to] - self->way_x[from]) * along;
    float way_y = self->way_y[from] + (self->way_y[to] - self->way_y[from]) * along;
    self->layout.points[first + k].x = self->left + own->points[first + k].x + way_x * share;
    self->layout.points[first + k].y = self->top + own->points[first + k].y + way_y * share;
  }
}

static void
move_scene(moved_scene *self, float share) {
  for (uint32_t i = 0; i < self->scene.n_nodes; i++) {
    self->layout.x[i] = self->left + self->own->x[i] + self->way_x[i] * share;
    self->layout.y[i] = self->top + self->own->y[i] + self->way_y[i] * share;
  }
  for (uint32_t i = 0; i < self->scene.n_edges; i++)
    move_edge(self, i, share);
  td_scene_set_edge_boxes(&self->scene);
}

td_graph_glide *
td_graph_glide_new(const td_graph_scene *from, const td_graph_scene *to, uint32_t still) {
  td_graph_glide *self = TD_NEW(td_graph_glide);
  double old_x, old_y, x, y;
  copy_scene(&self->from, from);
  copy_scene(&self->to, to);
  if (td_graph_scene_place(from, still, &old_x, &old_y) &&
      td_graph_scene_place(to, still, &x, &y)) {
    self->from.left = (float)(x - old_x);
    self->from.top = (float)(y - old_y);
  }
  find_ways(&self->from, &self->to);
  find_ways(&self->to, &self->from);
  td_graph_glide_move(self, 0);
  return self;
}

void
td_graph_glide_free(td_graph_glide *self) {
  if (!self) return;
  fini_scene(&self->from);
  fini_scene(&self->to);
  free(self);
}

static bool
is_near(const td_graph_view *view, float x, float y, td_box box) {
  double half_width = view->width / 2 / view->scale + box.width / 2;
  double half_height = view->height / 2 / view->scale + box.height / 2;
  return fabs(x - view->centre_x) <= half_width && fabs(y - view->centre_y) <= half_height;
}

static uint32_t
count_seen(const moved_scene *self, const td_graph_view *view) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < self->scene.n_nodes; i++) {
    td_box box = td_scene_box(&self->scene, i);
    float x = self->left + self->own->x[i], y = self->top + self->own->y[i];
    n += is_near(view, x, y, box) || is_near(view, x + self->way_x[i], y + self->way_y[i], box);
  }
  return n;
}

uint32_t
td_graph_glide_count(const td_graph_glide *self, const td_graph_view *view) {
  return count_seen(&self->from, view) + count_seen(&self->to, view);
}

/* A node takes 15, 37 or 70 µs: the nearer, the more there is to draw. */
bool
td_graph_glide_is_light(const td_graph_glide *self, const td_graph_view *view) {
  uint32_t most = view->scale >= td_scale_full ? 400 : view->scale >= td_scale_named ? 800 : 1800;
  return td_graph_glide_count(self, view) <= most;
}

void
td_graph_glide_move(td_graph_glide *self, double share) {
  self->share = share;
  move_scene(&self->from, (float)share);
  move_scene(&self->to, (float)(1 - share));
}

td_graph_scene *
td_graph_glide_scene(td_graph_glide *self) {
  return &self->to.scene;
}

td_graph_scene *
td_graph_glide_old_scene(td_graph_glide *self) {
  return &self->from.scene;
}

/* What both scenes have is in the same place in both, so there the one covers the other. */
void
td_graph_glide_draw(td_graph_glide *self, cairo_t *cr, const td_state *state,
                    const td_graph_view *view, const td_theme *theme, td_label_cache *labels) {
  td_graph_scene_draw(&self->from.scene, cr, state, view, theme, labels);
  cairo_push_group(cr);
  td_graph_scene_draw(&self->to.scene, cr, state, view, theme, labels);
  cairo_pop_group_to_source(cr);
  cairo_paint_with_alpha(cr, self->share);
}
