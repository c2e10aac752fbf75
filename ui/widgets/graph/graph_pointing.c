/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph/graph_pointing.h"

#include "ui/draw/graph_fold.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/facts/accessible_text.h"

#include <glib/gi18n.h>

static gboolean
has_bar(TdSubsetChoice *subset) {
  return td_subset_choice_get_wish(subset) != 0 || td_subset_choice_get_start(subset) != TD_NONE;
}

void
td_graph_pointing_look(TdCanvas *canvas, TdSubsetChoice *subset, td_graph_view *view) {
  TdPlayhead *playhead = td_canvas_get_playhead(canvas);
  uint32_t edge = td_playhead_get_edge(playhead);
  uint32_t running = td_document_find_running(td_canvas_get_document(canvas));
  view->selected = td_playhead_get_selection(playhead);
  view->hovered = td_canvas_get_hovered(canvas);
  view->marked = td_playhead_get_marks(playhead, &view->n_marked);
  view->running = running == TD_NONE ? 0 : running + 1;
  view->selected_edge = edge == TD_NONE ? 0 : edge + 1;
  view->covered_below = has_bar(subset) ? TD_GRAPH_BAR : 0;
}

uint32_t
td_graph_pointing_node_at(TdCanvas *canvas, const td_graph_scene *scene, const td_graph_view *view,
                          double x, double y) {
  uint32_t arrow = td_graph_scene_hit_arrow(scene, view, td_canvas_get_labels(canvas), x, y);
  return arrow == TD_NONE ? td_graph_scene_hit(scene, view, x, y) : arrow;
}

/* With Control, or if somebody looks for the end of a path, a click on a node shows the paths. */
static gboolean
ends_path(TdPlayhead *playhead, TdSubsetChoice *subset, uint32_t node, GdkModifierType modifiers) {
  uint32_t start = td_subset_choice_get_start(subset);
  if (start == TD_NONE && modifiers & GDK_CONTROL_MASK) start = td_playhead_get_selection(playhead);
  if (start == TD_NONE || node == TD_NONE) return FALSE;
  if (!td_subset_choice_want_paths(subset, start, node))
    td_playhead_say(playhead, _("There is no path between these two nodes"));
  return TRUE;
}

/* Whether the block that begins with a node has the other one too. */
static gboolean
is_in_block(const td_graph_scene *scene, uint32_t node, uint32_t other) {
  double x, y, other_x, other_y;
  return node != TD_NONE && other != TD_NONE && td_graph_scene_block(scene, node) &&
         td_graph_scene_place(scene, node, &x, &y) &&
         td_graph_scene_place(scene, other, &other_x, &other_y) && x == other_x && y == other_y;
}

uint32_t
td_graph_pointing_select(TdCanvas *canvas, TdSubsetChoice *subset, const td_graph_scene *scene,
                         const td_graph_view *view, double x, double y, GdkModifierType modifiers) {
  TdPlayhead *playhead = td_canvas_get_playhead(canvas);
  uint32_t arrow = td_graph_scene_hit_arrow(scene, view, td_canvas_get_labels(canvas), x, y);
  uint32_t node = arrow == TD_NONE ? td_graph_scene_hit(scene, view, x, y) : arrow;
  uint32_t edge = node == TD_NONE ? td_graph_scene_hit_edge(scene, view, x, y) : TD_NONE;
  if (arrow == TD_NONE && ends_path(playhead, subset, node, modifiers)) return TD_NONE;
  if (is_in_block(scene, node, td_playhead_get_selection(playhead))) return TD_NONE;
  if (edge == TD_NONE)
    td_playhead_set_selection(playhead, node);
  else
    td_playhead_set_edge(playhead, edge);
  return arrow;
}

static char *
dup_selected(TdCanvas *canvas) {
  TdPlayhead *playhead = td_canvas_get_playhead(canvas);
  uint32_t node = td_playhead_get_selection(playhead), edge = td_playhead_get_edge(playhead);
  if (node != TD_NONE) return td_accessible_node_whole(td_canvas_get_document(canvas), node);
  return edge == TD_NONE ? NULL : td_document_dup_edge_name(td_canvas_get_document(canvas), edge);
}

static char *
dup_size(TdSubsetChoice *subset, TdFoldChoice *folds, const td_graph_scene *scene) {
  uint32_t n = scene ? td_graph_scene_n_nodes(scene) : 0;
  char *part = td_subset_choice_dup_text(subset);
  if (!part) part = td_fold_choice_dup_text(folds);
  return part
             ? part
             : g_strdup_printf(ngettext("The graph has %u node.", "The graph has %u nodes.", n), n);
}

char *
td_graph_pointing_dup_text(TdCanvas *canvas, TdSubsetChoice *subset, TdFoldChoice *folds,
                           TdOverlayChoice *choice, const td_graph_scene *scene) {
  uint32_t node = td_playhead_get_selection(td_canvas_get_playhead(canvas));
  g_autofree char *name = dup_selected(canvas), *size = dup_size(subset, folds, scene);
  g_autofree char *figure = node == TD_NONE ? NULL : td_overlay_choice_dup_sentence(choice, node);
  gboolean folded = node != TD_NONE && scene && td_graph_scene_block(scene, node);
  g_autofree char *block = folded ? td_fold_choice_dup_block(folds, node) : NULL;
  if (!name) return g_strdup_printf(_("Nothing selected. %s"), size);
  g_autofree char *selected =
      block ? g_strdup_printf(_("Selected: %s, in the block %s."), name, block)
            : g_strdup_printf(_("Selected: %s."), name);
  return figure ? g_strdup_printf("%s %s %s", selected, figure, size)
                : g_strdup_printf("%s %s", selected, size);
}
