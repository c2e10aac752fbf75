/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Actions on what the graph shows: a part of it or the whole graph. They say so if something is
 * missing for them. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_show_neighbours shows what is near the selected node. td_window_widen and
 * td_window_narrow change by one edge how near that is. */
void td_window_show_neighbours(TdWindow *window);
void td_window_widen(TdWindow *window);
void td_window_narrow(TdWindow *window);

/* td_window_show_path begins a path at the selected node. If one has begun, it shows what lies
 * between its begin and the selected node. */
void td_window_show_path(TdWindow *window);

/* td_window_open_block opens the block that the selected node is in. td_window_fold_module folds
 * the module around the selected node; again, the module around that. The others open or fold all
 * modules. */
void td_window_open_block(TdWindow *window);
void td_window_fold_module(TdWindow *window);
void td_window_open_all(TdWindow *window);
void td_window_fold_all(TdWindow *window);

/* td_window_show_whole_graph gives up a path that has begun, or shows the whole graph again.
 * td_window_unselect takes one step back at a time: from an edge, from a part of the graph, from a
 * node. */
void td_window_show_whole_graph(TdWindow *window);
void td_window_unselect(TdWindow *window);
