/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tower of re-entry, over the picture of a pass that runs inside others: a floor for each pass,
 * the outermost at the bottom, each above it called by the node it names. */
#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "ui/draw/node_label.h"
#include "ui/draw/scene.h"
#include "ui/geometry/format.h"

#include <inttypes.h>

enum {
  FLOOR_HEIGHT = 24,
  FLOOR_WIDTH = 216,
  STEP = 3,
  LEFT = 12,
  TOP = 12,
  MOST_FLOORS = 9,
  BASE_FLOORS = 2
};

typedef struct tower_floor {
  uint32_t graph_task; /* TD_NONE: stands for the floors left out */
  td_box box;
} tower_floor;

/* How many passes the scene's is nested in, itself included. Outer passes were begun before: a tape
 * that says otherwise ends the walk. */
static uint32_t
height_of(const td_graph_scene *scene) {
  const td_catalog *catalog = scene->catalog;
  uint32_t n = 0;
  const td_catalog_graph_task *at = td_catalog_graph_task_find(catalog, scene->graph_task), *outer;
  for (; at; at = outer, n++) {
    outer = td_catalog_graph_task_find(catalog, at->outer);
    if (outer && outer->begin_seq >= at->begin_seq) outer = NULL;
  }
  return n;
}

static uint32_t
outer_of(const td_graph_scene *scene, uint32_t graph_task, uint32_t n) {
  while (n-- > 0)
    graph_task = td_catalog_graph_task_get(scene->catalog, graph_task)->outer;
  return graph_task;
}

/* From the top, which is the scene's own pass, down. A tall tower keeps its top and its base. */
static uint32_t
lay_floors(const td_graph_scene *scene, tower_floor floors[MOST_FLOORS]) {
  uint32_t height = height_of(scene), n = TD_MIN(height, (uint32_t)MOST_FLOORS);
  uint32_t gap = height > n ? n - BASE_FLOORS - 1 : TD_NONE;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t down = i > gap ? height - (n - i) : i;
    double inset = (double)(n - 1 - i) * STEP;
    floors[i] = (tower_floor){
        i == gap ? TD_NONE : outer_of(scene, scene->graph_task, down),
        {LEFT + inset, TOP + (double)i * FLOOR_HEIGHT, FLOOR_WIDTH - 2 * inset, FLOOR_HEIGHT - 2}};
  }
  return height < 2 ? 0 : n;
}

static bool
has_room(const td_graph_view *view) {
  return view->width >= 420 && view->height >= 320;
}

static char *
floor_text(const td_graph_scene *scene, const tower_floor *floor) {
  const td_catalog *catalog = scene->catalog;
  if (floor->graph_task == TD_NONE)
    return td_format_many(height_of(scene) - MOST_FLOORS + 1, "more pass", "more passes");
  const td_catalog_graph_task *facts = td_catalog_graph_task_get(catalog, floor->graph_task);
  char *pass = facts->number ? td_format(td_translate("pass %u"), facts->number)
                             : td_dup_string(td_translate("a pass"));
  if (!td_catalog_has_node(catalog, facts->caller)) return pass;
  char *title = td_node_title(catalog, facts->caller);
  char *text = td_format(td_translate("%s in %s #%u"), pass, title, facts->caller);
  free(title);
  free(pass);
  return text;
}

static void
draw_floor(const td_scene_draw *draw, const tower_floor *floor, bool is_top) {
  char *text = floor_text(draw->scene, floor);
  td_colour ground = is_top ? draw->theme->node_fill[TD_NODE_running] : draw->theme->card;
  td_shape_rounded(draw->cr, floor->box, 4);
  td_theme_source(draw->cr, ground);
  cairo_fill_preserve(draw->cr);
  td_theme_source(draw->cr, draw->theme->line);
  cairo_set_line_width(draw->cr, 1);
  cairo_stroke(draw->cr);
  td_colour colour = is_top ? (td_colour){1, 1, 1, 1} : draw->theme->foreground;
  td_label_draw(draw->labels, draw->cr, text, 11, floor->box.x + 9, floor->box.y + 3.5,
                floor->box.width - 16, colour, is_top);
  free(text);
}

void
td_scene_draw_tower(td_scene_draw *draw) {
  tower_floor floors[MOST_FLOORS];
  uint32_t n = has_room(draw->view) ? lay_floors(draw->scene, floors) : 0;
  for (uint32_t i = 0; i < n; i++)
    draw_floor(draw, &floors[i], i == 0);
}

bool
td_scene_hit_tower(const td_graph_scene *scene, const td_graph_view *view, double x, double y,
                   uint32_t *caller) {
  tower_floor floors[MOST_FLOORS];
  uint32_t n = has_room(view) ? lay_floors(scene, floors) : 0;
  for (uint32_t i = 0; i < n; i++) {
    td_box box = floors[i].box;
    if (x < box.x || x >= box.x + box.width || y < box.y || y >= box.y + box.height) continue;
    *caller = floors[i].graph_task == TD_NONE
                  ? TD_NONE
                  : td_catalog_graph_task_get(scene->catalog, floors[i].graph_task)->caller;
    return true;
  }
  return false;
}
