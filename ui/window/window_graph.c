/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_graph.h"

#include "ui/window/window_picture.h"

#include <glib/gi18n.h>

static TdSubsetChoice *
subset(TdWindow *window) {
  return td_tape_view_get_subset_choice(td_window_get_tape_view(window));
}

void
td_window_show_neighbours(TdWindow *window) {
  uint32_t node = td_playhead_get_selection(td_window_get_playhead(window));
  if (node == TD_NONE)
    td_window_say(window, _("First select the node whose neighbours you want to see"));
  else if (!td_subset_choice_want_neighbours(subset(window), node))
    td_window_say(window, _("The graph of this pass does not have the selected node"));
}

void
td_window_widen(TdWindow *window) {
  td_subset_choice_widen(subset(window), 1);
}

void
td_window_narrow(TdWindow *window) {
  td_subset_choice_widen(subset(window), -1);
}

void
td_window_show_path(TdWindow *window) {
  uint32_t node = td_playhead_get_selection(td_window_get_playhead(window));
  uint32_t start = td_subset_choice_get_start(subset(window));
  if (node == TD_NONE)
    td_window_say(window, _("First select the node where the path begins"));
  else if (start == TD_NONE)
    td_subset_choice_set_start(subset(window), node);
  else if (!td_subset_choice_want_paths(subset(window), start, node))
    td_window_say(window, _("There is no path between these two nodes"));
}

/* A part of the graph is never folded. */
static TdFoldChoice *
folds(TdWindow *window) {
  while (td_subset_choice_clear(subset(window)))
    ;
  return td_tape_view_get_fold_choice(td_window_get_tape_view(window));
}

void
td_window_open_block(TdWindow *window) {
  uint32_t node = td_playhead_get_selection(td_window_get_playhead(window));
  if (node == TD_NONE)
    td_window_say(window, _("First select the block that you want to open"));
  else if (!td_fold_choice_open(folds(window), node))
    td_window_say(window, _("The selected node is in no block"));
}

void
td_window_fold_module(TdWindow *window) {
  uint32_t node = td_playhead_get_selection(td_window_get_playhead(window));
  if (node == TD_NONE)
    td_window_say(window, _("First select a node of the module that you want to fold"));
  else if (!td_fold_choice_close(folds(window), node))
    td_window_say(window, _("The selected node is in no module that could be folded"));
}

void
td_window_open_all(TdWindow *window) {
  td_fold_choice_open_all(folds(window));
}

void
td_window_fold_all(TdWindow *window) {
  if (!td_fold_choice_close_all(folds(window)))
    td_window_say(window, _("The tape names no modules in this pass."));
}

void
td_window_show_whole_graph(TdWindow *window) {
  td_subset_choice_clear(subset(window));
}

void
td_window_unselect(TdWindow *window) {
  TdPlayhead *playhead = td_window_get_playhead(window);
  if (td_window_cancel_picture(GTK_WINDOW(window))) return;
  if (td_brush_clear(td_tape_view_get_brush(td_window_get_tape_view(window)))) return;
  td_shown_chain_end(td_tape_view_get_chain(td_window_get_tape_view(window)));
  if (td_playhead_get_edge(playhead) == TD_NONE && td_subset_choice_clear(subset(window))) return;
  td_playhead_set_selection(playhead, TD_NONE);
}
