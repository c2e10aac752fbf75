/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The panes around the graph of an open tape: where they are and how large, in a layout for each
 * use. Main thread. */
#pragma once

#include "ui/model/document/layout.h"
#include "ui/widgets/timeline/queues_canvas.h"

/* td_layout_name returns "debug", ...: a name for actions and for the config. */
const char *td_layout_name(TdLayout layout);

typedef enum TdPane {
  TD_PANE_SIDE,
  TD_PANE_QUEUES,
  TD_PANE_TIMELINE,
  TD_PANE_MINIMAP,
  TD_N_PANES
} TdPane;

/* td_pane_name returns "side-pane", ...: a name for actions and for the config. */
const char *td_pane_name(TdPane pane);

/* The places of the panes' handles, to remember: the side pane's width, or its height if it lies
 * below, and the heights of the lower panes. 0 or less: as the layout has it. */
typedef struct TdPaneSizes {
  int side, lower, queues;
} TdPaneSizes;

/* All widgets are borrowed. */
typedef struct TdPanes {
  GtkPaned *outer;  /* the side pane, and all else */
  GtkPaned *inner;  /* the graph, and the lower panes */
  GtkPaned *lowest; /* queues and timeline */
  GtkWidget *pane[TD_N_PANES];
  TdQueuesCanvas *queues;
  GtkWidget *timeline;
  TdLayout layout;
  TdPaneSizes wanted[TD_N_LAYOUTS];
  gboolean showed_both; /* queues and timeline */
  guint n_frames;       /* in which the places are set anew */
} TdPanes;

/* td_panes_init begins with the layout TD_LAYOUT_DEBUG; all widgets are set. */
void td_panes_init(TdPanes *self);

/* td_panes_apply gives each pane its place, once the widgets have a size. */
void td_panes_apply(TdPanes *self);

/* td_panes_set_layout keeps the sizes of the layout that was. The side pane of TD_LAYOUT_PROFILE
 * lies below, that of TD_LAYOUT_TEACH is hidden. Queues are short where they are not explained. */
void td_panes_set_layout(TdPanes *self, TdLayout layout);

void td_panes_set_sizes(TdPanes *self, TdLayout layout, TdPaneSizes sizes);
TdPaneSizes td_panes_get_sizes(TdPanes *self, TdLayout layout);
