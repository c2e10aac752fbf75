/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An open tape: graph, queues, timeline, the side pane and the transport around one playhead. Main
 * thread. */
#pragma once

#include "ui/model/document/fold_choice.h"
#include "ui/model/document/overlay_choice.h"
#include "ui/model/document/subset_choice.h"
#include "ui/model/live/live_session.h"
#include "ui/model/live/stop_run.h"
#include "ui/model/playhead/bookmarks.h"
#include "ui/model/playhead/brush.h"
#include "ui/model/playhead/playhead.h"
#include "ui/model/playhead/shown_chain.h"
#include "ui/widgets/panes/analysis_pane.h"
#include "ui/widgets/panes/lesson_pane.h"
#include "ui/widgets/view/panes.h"

#include <adwaita.h>

#define TD_TYPE_TAPE_VIEW (td_tape_view_get_type())
G_DECLARE_FINAL_TYPE(TdTapeView, td_tape_view, TD, TAPE_VIEW, GtkBox)

/* td_tape_view_set_session shows the bar of a program that still runs; NULL hides it. */
void td_tape_view_set_session(TdTapeView *self, TdLiveSession *session);

void td_tape_view_set_playhead(TdTapeView *self, TdPlayhead *playhead);

/* td_tape_view_get_stops returns the stops, td_tape_view_get_run what runs between them; borrowed.
 * td_tape_view_show_stops shows their list. */
TdStopList *td_tape_view_get_stops(TdTapeView *self);
TdStopRun *td_tape_view_get_run(TdTapeView *self);
void td_tape_view_show_stops(TdTapeView *self);

/* td_tape_view_get_chain returns the chain that the graph shows; borrowed. */
TdShownChain *td_tape_view_get_chain(TdTapeView *self);

/* td_tape_view_get_bookmarks returns those of the tape that is open; borrowed. */
TdBookmarks *td_tape_view_get_bookmarks(TdTapeView *self);

/* td_tape_view_get_brush returns the range of time that the timeline shows; borrowed. */
TdBrush *td_tape_view_get_brush(TdTapeView *self);

void td_tape_view_zoom(TdTapeView *self, double factor);
void td_tape_view_fit(TdTapeView *self);

/* td_tape_view_set_overlay colours the nodes by a figure, or with TD_N_OVERLAYS by state. */
void td_tape_view_set_overlay(TdTapeView *self, td_overlay_kind kind);

/* td_tape_view_get_subset_choice returns which part of the graph is shown. */
TdSubsetChoice *td_tape_view_get_subset_choice(TdTapeView *self);

/* td_tape_view_get_fold_choice returns how the graph is folded. */
TdFoldChoice *td_tape_view_get_fold_choice(TdTapeView *self);

/* td_tape_view_is_busy tells whether a worker still makes what the window shows. */
gboolean td_tape_view_is_busy(TdTapeView *self);

/* td_tape_view_next_overlay colours the nodes by the next figure; after the last one, by state. */
void td_tape_view_next_overlay(TdTapeView *self);

void td_tape_view_focus_graph(TdTapeView *self);

/* td_tape_view_show_events_of_selection shows the list of events, with those of the selected node
 * alone. */
void td_tape_view_show_events_of_selection(TdTapeView *self);

/* td_tape_view_find_event shows the list of events, where one types words to look for. */
void td_tape_view_find_event(TdTapeView *self);

/* td_tape_view_show_page shows a page of the side pane: "answers", "inspector", "events",
 * "findings" or the name of an analysis. FALSE for any other. */
gboolean td_tape_view_show_page(TdTapeView *self, const char *name);

/* td_tape_view_get_page returns the name of the page that is shown, or was before the pane was
 * hidden. Constant. */
const char *td_tape_view_get_page(TdTapeView *self);

/* td_tape_view_set_walk shows a lesson or a quiz beside the tape; NULL ends it. While it asks, the
 * sentence about the last pop is hidden, and so are the queues if they show the answer. The layout
 * is TD_LAYOUT_TEACH meanwhile.
 * td_tape_view_get_lesson returns its pane; borrowed. */
void td_tape_view_set_walk(TdTapeView *self, TdLessonWalk *walk);
TdLessonPane *td_tape_view_get_lesson(TdTapeView *self);

/* td_tape_view_get_answers returns the answers to the tape, a list of TdAnswerItem, or NULL;
 * borrowed. */
GListModel *td_tape_view_get_answers(TdTapeView *self);

/* td_tape_view_get_analysis returns the pane of the tables; borrowed. */
TdAnalysisPane *td_tape_view_get_analysis(TdTapeView *self);

/* td_tape_view_get_panes returns the panes around the graph; borrowed. The graph takes the room of
 * what is hidden. */
TdPanes *td_tape_view_get_panes(TdTapeView *self);

/* td_tape_view_set_layout lays the panes out anew. TD_LAYOUT_PROFILE shows the profile. */
void td_tape_view_set_layout(TdTapeView *self, TdLayout layout);
