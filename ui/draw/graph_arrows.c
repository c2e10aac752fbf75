/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arrows at the border of the picture, to the selected node and to the one just popped, if these
 * lie outside of it. */
#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "ui/draw/node_label.h"
#include "ui/draw/scene.h"
#include "ui/geometry/beyond.h"

#include <inttypes.h>
#include <math.h>

/* TOP keeps clear of what lies over the upper corners of the graph in the window. */
enum {
  HEIGHT = 24,
  MARGIN = 10,
  TOP = 56,
  SIZE = 11,
  HEAD_X = 14,
  BEFORE_TEXT = 26,
  MOST_TEXT = 240
};
enum { MOST_ARROWS = 2, LEAST_VIEW = 200 };

typedef struct arrow {
  uint32_t node; /* in the graph */
  bool is_selected;
  char *text; /* (owned) */
  td_box box;
  double direction;
} arrow;

/* In pixels of the picture. */
static td_box
place_on_picture(const td_graph_scene *scene, const td_graph_view *view, uint32_t i) {
  td_box box = td_scene_box(scene, i);
  return (td_box){(box.x - view->centre_x) * view->scale + view->width / 2,
                  (box.y - view->centre_y) * view->scale + view->height / 2,
                  box.width * view->scale, box.height * view->scale};
}

static bool
is_outside(const td_graph_view *view, td_box box) {
  return box.x > view->width || box.x + box.width < 0 || box.y > td_scene_legend_top(view) ||
         box.y + box.height < 0;
}

static char *
text_of(const td_graph_scene *scene, uint32_t node, bool is_selected) {
  char *title = td_node_title(scene->catalog, node);
  char *text = td_format(is_selected ? "%s #%u" : td_translate("running: %s #%u"), title, node);
  free(title);
  return text;
}

/* Beside what lies over the upper right corner, or below it. */
static void
make_way(td_box *box, const td_graph_view *view) {
  double left = box->x + box->width - (view->width - view->covered_width);
  double down = view->covered_bottom - box->y;
  if (left <= 0 || down <= 0) return;
  if (left < down)
    box->x -= left;
  else
    box->y += down;
}

static void
set_place(arrow *self, const td_graph_view *view, td_box node, double width) {
  double x, y, to_x = node.x + node.width / 2, to_y = node.y + node.height / 2;
  td_frame frame = {MARGIN + width / 2, TOP + HEIGHT / 2.0, view->width - MARGIN - width / 2,
                    td_scene_legend_top(view) - view->covered_below - MARGIN - HEIGHT / 2.0};
  td_beyond_place(frame, to_x, to_y, &x, &y);
  self->box = (td_box){x - width / 2, y - HEIGHT / 2.0, width, HEIGHT};
  make_way(&self->box, view);
  self->direction = atan2(to_y - self->box.y - HEIGHT / 2.0, to_x - self->box.x - HEAD_X);
}

static bool
find_arrow(const td_graph_scene *scene, const td_graph_view *view, td_label_cache *labels,
           uint32_t node, bool is_selected, arrow *self) {
  double width;
  uint32_t found = td_scene_find(scene, node);
  if (found == TD_NONE || view->width < LEAST_VIEW) return false;
  td_box box = place_on_picture(scene, view, found);
  if (!is_outside(view, box)) return false;
  *self = (arrow){.node = node, .is_selected = is_selected};
  self->text = text_of(scene, node, is_selected);
  td_label_size(labels, self->text, SIZE, is_selected, &width, NULL);
  set_place(self, view, box, BEFORE_TEXT + TD_MIN(width, MOST_TEXT) + MARGIN);
  return true;
}

static bool
overlap(td_box a, td_box b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/* Two arrows to the same side stand one above the other. */
static uint32_t
find_arrows(const td_graph_scene *scene, const td_graph_view *view, td_label_cache *labels,
            arrow arrows[MOST_ARROWS]) {
  uint32_t n = find_arrow(scene, view, labels, view->selected, true, arrows) ? 1 : 0;
  uint32_t running = view->running ? view->running - 1 : TD_NONE;
  if (running == view->selected) return n;
  if (!find_arrow(scene, view, labels, running, false, &arrows[n])) return n;
  if (n == 1 && overlap(arrows[0].box, arrows[1].box)) {
    double step = arrows[0].box.y < view->height / 2 ? HEIGHT + 4 : -HEIGHT - 4;
    arrows[1].box.y = arrows[0].box.y + step;
  }
  return n + 1;
}

static void
draw_head(cairo_t *cr, double x, double y, double direction) {
  cairo_save(cr);
  cairo_translate(cr, x, y);
  cairo_rotate(cr, direction);
  cairo_move_to(cr, 8, 0);
  cairo_line_to(cr, -5, -6);
  cairo_line_to(cr, -2, 0);
  cairo_line_to(cr, -5, 6);
  cairo_close_path(cr);
  cairo_fill(cr);
  cairo_restore(cr);
}

static void
draw_arrow(const td_scene_draw *draw, const arrow *self) {
  td_colour ink = self->is_selected ? draw->theme->accent : draw->theme->foreground;
  td_shape_rounded(draw->cr, self->box, HEIGHT / 2.0);
  td_theme_source(draw->cr, draw->theme->card);
  cairo_fill_preserve(draw->cr);
  td_theme_source(draw->cr, self->is_selected ? ink : draw->theme->dim);
  cairo_set_line_width(draw->cr, 1.5);
  cairo_stroke(draw->cr);
  td_theme_source(draw->cr, ink);
  draw_head(draw->cr, self->box.x + HEAD_X, self->box.y + HEIGHT / 2.0, self->direction);
  td_label_draw(draw->labels, draw->cr, self->text, SIZE, self->box.x + BEFORE_TEXT,
                self->box.y + 4.5, MOST_TEXT, draw->theme->foreground, self->is_selected);
}

void
td_scene_draw_arrows(const td_scene_draw *draw) {
  arrow arrows[MOST_ARROWS];
  uint32_t n = find_arrows(draw->scene, draw->view, draw->labels, arrows);
  for (uint32_t i = 0; i < n; i++) {
    draw_arrow(draw, &arrows[i]);
    free(arrows[i].text);
  }
}

uint32_t
td_graph_scene_hit_arrow(const td_graph_scene *scene, const td_graph_view *view,
                         td_label_cache *labels, double x, double y) {
  arrow arrows[MOST_ARROWS];
  uint32_t n = find_arrows(scene, view, labels, arrows), node = TD_NONE;
  for (uint32_t i = 0; i < n; i++) {
    td_box box = arrows[i].box;
    if (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height)
      node = arrows[i].node;
    free(arrows[i].text);
  }
  return node;
}
