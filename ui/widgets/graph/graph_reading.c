/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph/graph_reading.h"

#include "ui/draw/graph_fold.h"
#include "ui/draw/graph_steps.h"
#include "ui/geometry/format.h"
#include "ui/model/facts/accessible_text.h"
#include "ui/model/facts/node_state_text.h"

#include <glib/gi18n.h>

#define PAGE 40

void
td_graph_reading_fini(td_graph_reading *self) {
  free(self->order);
  *self = (td_graph_reading){0};
}

static void
ensure_order(td_graph_reading *self, const td_graph_scene *scene, guint scene_number) {
  if (self->order && self->scene_number == scene_number) return;
  free(self->order);
  self->order = td_graph_scene_order(scene);
  self->scene_number = scene_number;
}

/* The order is from top to bottom, then from left to right. */
static bool
comes_before(const td_graph_scene *scene, uint32_t node, double x, double y) {
  double here_x = 0, here_y = 0;
  td_graph_scene_place(scene, node, &here_x, &here_y);
  return here_y != y ? here_y < y : here_x < x;
}

/* A node of a block is where its block is. */
static uint32_t
find_place(const td_graph_reading *self, const td_graph_scene *scene, uint32_t node) {
  double x, y;
  uint32_t from = 0, to = td_graph_scene_n_nodes(scene);
  if (node == TD_NONE || !td_graph_scene_place(scene, node, &x, &y)) return 0;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (comes_before(scene, self->order[middle], x, y))
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

static char *
dup_node(TdCanvas *canvas, const td_graph_scene *scene, TdFoldChoice *folds, uint32_t node) {
  TdDocument *document = td_canvas_get_document(canvas);
  g_autofree char *block =
      td_graph_scene_block(scene, node) ? td_fold_choice_dup_block(folds, node) : NULL;
  return block ? g_strdup_printf(_("block %s"), block) : td_accessible_node(document, node);
}

static void
tell_node(TdCanvas *canvas, const td_graph_scene *scene, const td_graph_view *view,
          TdFoldChoice *folds, uint32_t node, GArray *told) {
  double at[4];
  if (!td_graph_scene_extent(scene, view, node, at)) return;
  TdTold item = {dup_node(canvas, scene, folds, node), 1, node, node,
                 GRAPHENE_RECT_INIT((float)at[0], (float)at[1], (float)at[2], (float)at[3])};
  td_canvas_tell(canvas, told, item);
}

/* Nodes of other pages: an item at the upper or the lower side of the picture. */
static void
tell_rest(TdCanvas *canvas, const td_graph_view *view, uint32_t n, gboolean is_before,
          GArray *told) {
  g_autofree char *count = td_format_count(n);
  float y = is_before ? 0 : (float)view->height - 1;
  TdTold item = {
      g_strdup_printf(is_before ? _("%s more before these") : _("%s more after these"), count), 1,
      is_before ? TD_ACCESSIBLE_BEFORE : TD_ACCESSIBLE_MORE, TD_NONE,
      GRAPHENE_RECT_INIT(0, y, (float)view->width, 1)};
  if (n)
    td_canvas_tell(canvas, told, item);
  else
    g_free(item.text);
}

void
td_graph_reading_tell(td_graph_reading *self, TdCanvas *canvas, const td_graph_scene *scene,
                      guint scene_number, const td_graph_view *view, TdFoldChoice *folds,
                      uint32_t node, GArray *told) {
  ensure_order(self, scene, scene_number);
  uint32_t n = td_graph_scene_n_nodes(scene), first = find_place(self, scene, node) / PAGE * PAGE;
  uint32_t end = MIN(first + PAGE, n);
  tell_rest(canvas, view, first, TRUE, told);
  for (uint32_t i = first; i < end; i++)
    tell_node(canvas, scene, view, folds, self->order[i], told);
  tell_rest(canvas, view, n - end, FALSE, told);
}
