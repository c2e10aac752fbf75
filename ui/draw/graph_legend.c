/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "ui/draw/scene.h"
#include "ui/geometry/format.h"

#include <inttypes.h>

enum { HEIGHT = 26, MARGIN = 10, SIZE = 11, STRIPE_WIDTH = 5, TEXT_HEIGHT = 22 };

/* Always explained: the life of a node. The others where the picture has them. */
static bool
always_shown(td_node_state state) {
  return state == TD_NODE_waiting || state == TD_NODE_partial || state == TD_NODE_queued ||
         state == TD_NODE_running || state == TD_NODE_done;
}

static void
find_states(const td_scene_draw *draw, bool *present) {
  for (uint32_t i = 0; i < TD_N_NODE_STATES; i++)
    present[i] = always_shown(i);
  for (uint32_t i = 0; i < draw->scene->n_nodes; i++)
    present[td_scene_state(draw, i)] = true;
}

static const char *const state_words[TD_N_NODE_STATES] = {
    [TD_NODE_created] = TD_N("created"), [TD_NODE_waiting] = TD_N("waiting"),
    [TD_NODE_partial] = TD_N("partial"), [TD_NODE_queued] = TD_N("queued"),
    [TD_NODE_running] = TD_N("running"), [TD_NODE_done] = TD_N("done"),
    [TD_NODE_skipped] = TD_N("skipped"), [TD_NODE_captured] = TD_N("captured"),
    [TD_NODE_failed] = TD_N("failed"),   [TD_NODE_released] = TD_N("released"),
    [TD_NODE_absent] = TD_N("absent"),
};

static double
draw_item(const td_scene_draw *draw, td_node_state state, double x, double y) {
  cairo_t *cr = draw->cr;
  const char *name = td_translate(state_words[state]);
  td_box box = {x, y - 6.5, 20, 13};
  double width;
  cairo_save(cr);
  td_shape_rounded(cr, (td_box){box.x - 1, box.y - 1, box.width + 2, box.height + 2}, 4.5);
  cairo_clip(cr);
  td_shape_card(cr, box, 3.5, state, 0.5, draw->theme);
  cairo_restore(cr);
  td_shape_state_mark(cr, state, 0.5, x + 10, y, 8,
                      state == TD_NODE_running ? (td_colour){1, 1, 1, 1}
                                               : draw->theme->node_fill[state]);
  td_label_draw(draw->labels, cr, name, SIZE, x + 26, y - 7.5, 0, draw->theme->dim, false);
  td_label_size(draw->labels, name, SIZE, false, &width, NULL);
  return 26 + width + 14;
}

static double
draw_device(const td_scene_draw *draw, int32_t device, double x, double y) {
  const char *name = td_catalog_device_label(draw->scene->catalog, device);
  double width;
  td_shape_rounded(draw->cr, (td_box){x, y - 6.5, STRIPE_WIDTH, 13}, 2);
  td_theme_source(draw->cr, td_theme_device(draw->theme, device));
  cairo_fill(draw->cr);
  td_label_draw(draw->labels, draw->cr, name, SIZE, x + 10, y - 7.5, 0, draw->theme->dim, false);
  td_label_size(draw->labels, name, SIZE, false, &width, NULL);
  return 10 + width + 14;
}

static double
draw_items(const td_scene_draw *draw, double x, double y) {
  bool present[TD_N_NODE_STATES];
  if (draw->view->overlay) return td_scene_draw_scale(draw, x, y);
  find_states(draw, present);
  for (uint32_t i = 0; i < TD_N_NODE_STATES; i++)
    if (present[i]) x += draw_item(draw, i, x, y);
  x += 6;
  for (uint32_t i = 0; i < draw->scene->catalog->n_devices; i++)
    x += draw_device(draw, draw->scene->catalog->devices[i].device, x, y);
  return x;
}

/* What the picture leaves out, in a corner; NULL where it shows everything. */
static char *
hidden_text(const td_scene_draw *draw) {
  uint32_t n = draw->scene->n_nodes;
  bool far = td_scene_is_far(draw->scene, draw->view->scale), all_shown = draw->n_shown == n;
  if (all_shown && draw->view->scale >= td_scale_full) return NULL;
  char *shown = td_format_count(draw->n_shown),
       *all = draw->scene->n_blocks ? td_format_many(n, "block or node", "blocks and nodes")
                                    : td_format_many(n, "node", "nodes");
  char *hidden = td_format_many(draw->n_edges_hidden, "long edge hidden", "long edges hidden");
  char *nodes =
      all_shown ? td_dup_string(all) : td_format(td_translate("%s of %s in view"), shown, all);
  const char *closer = far                                 ? td_translate("zoom in to see names")
                       : draw->view->scale < td_scale_full ? td_translate("zoom in to see counts")
                                                           : "";
  const char *dot = " · ", *cut = draw->n_edges_hidden ? hidden : "";
  char *text = td_format("%s%s%s%s%s", nodes, *cut ? dot : "", cut, *closer ? dot : "", closer);
  free(nodes);
  free(shown);
  free(all);
  free(hidden);
  return text;
}

static void
draw_panel(const td_scene_draw *draw, td_box box) {
  td_shape_rounded(draw->cr, box, 7);
  td_theme_source(draw->cr, td_colour_fade(draw->theme->background, 0.95));
  cairo_fill(draw->cr);
}

static bool
has_room(const td_graph_view *view) {
  return view->width >= 420 && view->height >= 160;
}

double
td_scene_legend_top(const td_graph_view *view) {
  return has_room(view) ? view->height - HEIGHT - 2 * MARGIN + 6 : view->height;
}

double
td_graph_legend_height(void) {
  return MARGIN + HEIGHT / 2.0 + HEIGHT + TEXT_HEIGHT / 2.0;
}

void
td_scene_draw_legend(td_scene_draw *draw) {
  double y = draw->view->height - MARGIN - HEIGHT / 2.0, width = 0;
  if (!has_room(draw->view)) return;
  char *text = hidden_text(draw);
  if (text) td_label_size(draw->labels, text, SIZE, false, &width, NULL);
  draw_panel(draw, (td_box){0, td_scene_legend_top(draw->view), draw->view->width, 60});
  double end = draw_items(draw, MARGIN + 8, y);
  double right = draw->view->width - MARGIN - 8, line = end + width + 20 > right ? y - HEIGHT : y;
  if (text && line != y)
    draw_panel(draw,
               (td_box){right - width - 10, line - TEXT_HEIGHT / 2.0, width + 20, TEXT_HEIGHT});
  if (text)
    td_label_right(draw->labels, draw->cr, text, SIZE, right, line - 7.5, draw->theme->dim, false);
  free(text);
}
