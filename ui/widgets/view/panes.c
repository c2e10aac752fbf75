/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/view/panes.h"

#include "ui/draw/timeline_picture.h"

/* The side pane has this share of the width, as long as it is within these pixels. */
#define SIDE_SHARE 0.25
#define MIN_SIDE 340
#define MAX_SIDE 560
#define MOST_SIDE 0.34
#define MIN_TIMELINE 70
#define ROOM_FOR_WHY 64

/* The graph keeps at least its share of the height. What the lower panes do not need goes to the
 * graph, or to the timeline. The queues have at most their share of the lower panes: their sentence
 * may be long. The side pane lies below all if it has a share of the height. */
static const struct {
  const char *name;
  double graph_share, queues_share, side_below;
  gboolean short_queues, large_timeline, shows_side;
} layouts[TD_N_LAYOUTS] = {[TD_LAYOUT_DEBUG] = {"debug", 0.44, 0.6, 0, TRUE, FALSE, TRUE},
                           [TD_LAYOUT_PROFILE] = {"profile", 0.24, 0.35, 0.34, TRUE, TRUE, TRUE},
                           [TD_LAYOUT_TEACH] = {"teach", 0.44, 0.6, 0, FALSE, FALSE, FALSE}};

const char *
td_layout_name(TdLayout layout) {
  return layouts[layout].name;
}

const char *
td_pane_name(TdPane pane) {
  static const char *const names[TD_N_PANES] = {[TD_PANE_SIDE] = "side-pane",
                                                [TD_PANE_QUEUES] = "queues-pane",
                                                [TD_PANE_TIMELINE] = "timeline-pane",
                                                [TD_PANE_MINIMAP] = "minimap"};
  return names[pane];
}

static gboolean
shows(TdPanes *self, TdPane pane) {
  return gtk_widget_get_visible(self->pane[pane]);
}

static gboolean
shows_both(TdPanes *self) {
  return shows(self, TD_PANE_QUEUES) && shows(self, TD_PANE_TIMELINE);
}

static gboolean
is_side_below(TdPanes *self) {
  return layouts[self->layout].side_below > 0;
}

/* Along which the side pane has its size. */
static int
outer_extent(TdPanes *self) {
  GtkWidget *outer = GTK_WIDGET(self->outer);
  return is_side_below(self) ? gtk_widget_get_height(outer) : gtk_widget_get_width(outer);
}

/* A paned counts from its start; what should keep its size is at its end. */
static int
end_size(GtkPaned *paned, int extent) {
  return extent - gtk_paned_get_position(paned);
}

static int
queues_needed(TdPanes *self) {
  return (int)td_canvas_pixels(TD_CANVAS(self->queues), ROOM_FOR_WHY) +
         td_queues_canvas_get_needed(self->queues);
}

static int
timeline_needed(TdPanes *self, TdDocument *document) {
  double height = td_timeline_height(td_document_get_timeline(document));
  return (int)td_canvas_pixels(TD_CANVAS(self->timeline), MAX(height, MIN_TIMELINE));
}

static int
default_lower(TdPanes *self, int most) {
  TdDocument *document = td_canvas_get_document(TD_CANVAS(self->queues));
  if (!document || (layouts[self->layout].large_timeline && shows(self, TD_PANE_TIMELINE)))
    return most;
  int queues = shows(self, TD_PANE_QUEUES) ? queues_needed(self) : 0;
  int timeline = shows(self, TD_PANE_TIMELINE) ? timeline_needed(self, document) : 0;
  return MIN(most, queues + timeline);
}

static int
default_queues(TdPanes *self, int lower) {
  TdDocument *document = td_canvas_get_document(TD_CANVAS(self->queues));
  int most = (int)(lower * layouts[self->layout].queues_share);
  return document ? MIN(most, queues_needed(self)) : most;
}

static int
default_side(TdPanes *self) {
  int extent = outer_extent(self);
  if (is_side_below(self)) return (int)(extent * layouts[self->layout].side_below);
  return CLAMP((int)(extent * SIDE_SHARE), MIN_SIDE, MAX_SIDE);
}

static int
most_side(TdPanes *self) {
  double share = is_side_below(self) ? 1 - layouts[self->layout].graph_share : MOST_SIDE;
  return (int)(outer_extent(self) * share);
}

static void
apply_lower(TdPanes *self, int height) {
  const TdPaneSizes *wanted = &self->wanted[self->layout];
  int most = (int)(height * (1 - layouts[self->layout].graph_share));
  int lower =
      shows_both(self) && wanted->lower > 0 ? MIN(wanted->lower, most) : default_lower(self, most);
  int queues = wanted->queues > 0 ? wanted->queues : default_queues(self, lower);
  gtk_paned_set_position(self->inner, height - lower);
  gtk_paned_set_position(self->lowest, MIN(queues, lower - MIN_TIMELINE));
}

void
td_panes_apply(TdPanes *self) {
  const TdPaneSizes *wanted = &self->wanted[self->layout];
  int height = gtk_widget_get_height(GTK_WIDGET(self->outer));
  int side = MIN(wanted->side > 0 ? wanted->side : default_side(self), most_side(self));
  gtk_paned_set_position(self->outer, outer_extent(self) - side);
  apply_lower(self, is_side_below(self) && shows(self, TD_PANE_SIDE) ? height - side : height);
}

void
td_panes_set_sizes(TdPanes *self, TdLayout layout, TdPaneSizes sizes) {
  self->wanted[layout] = sizes;
}

TdPaneSizes
td_panes_get_sizes(TdPanes *self, TdLayout layout) {
  int height = gtk_widget_get_height(GTK_WIDGET(self->inner));
  TdPaneSizes sizes = self->wanted[layout];
  if (layout != self->layout || height <= 0) return sizes;
  if (shows(self, TD_PANE_SIDE)) sizes.side = end_size(self->outer, outer_extent(self));
  if (!shows_both(self)) return sizes;
  sizes.lower = end_size(self->inner, height);
  sizes.queues = gtk_paned_get_position(self->lowest);
  return sizes;
}

/* A paned whose size changes moves its handle by as much, in the next frame: first the outer one,
 * then the one in it. So the places are set anew in each of these frames. */
#define FRAMES 3

static gboolean
apply_again(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  TdPanes *self = data;
  td_panes_apply(self);
  return --self->n_frames > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void
apply_in_frames(TdPanes *self) {
  if (self->n_frames == 0)
    gtk_widget_add_tick_callback(GTK_WIDGET(self->outer), apply_again, self, NULL);
  self->n_frames = FRAMES;
}

void
td_panes_set_layout(TdPanes *self, TdLayout layout) {
  if (layout == self->layout) return;
  self->wanted[self->layout] = td_panes_get_sizes(self, self->layout);
  self->layout = layout;
  gtk_orientable_set_orientation(GTK_ORIENTABLE(self->outer), is_side_below(self)
                                                                  ? GTK_ORIENTATION_VERTICAL
                                                                  : GTK_ORIENTATION_HORIZONTAL);
  td_queues_canvas_set_short(self->queues, layouts[layout].short_queues);
  gtk_widget_set_visible(self->pane[TD_PANE_SIDE], layouts[layout].shows_side);
  if (gtk_widget_get_height(GTK_WIDGET(self->outer)) > 0) apply_in_frames(self);
}

/* One of the lower panes was hidden or shown. Its place is remembered while it is hidden. */
static void
lower_pane_changed(TdPanes *self) {
  bool queues = shows(self, TD_PANE_QUEUES), timeline = shows(self, TD_PANE_TIMELINE);
  int height = gtk_widget_get_height(GTK_WIDGET(self->inner));
  if (queues != timeline && height > 0 && self->showed_both) {
    self->wanted[self->layout].lower = end_size(self->inner, height);
    self->wanted[self->layout].queues = gtk_paned_get_position(self->lowest);
  }
  gtk_widget_set_visible(GTK_WIDGET(self->lowest), queues || timeline);
  self->showed_both = queues && timeline;
  if (height > 0) td_panes_apply(self);
}

void
td_panes_init(TdPanes *self) {
  self->layout = TD_LAYOUT_DEBUG;
  self->showed_both = TRUE;
  td_queues_canvas_set_short(self->queues, layouts[self->layout].short_queues);
  g_signal_connect_swapped(self->pane[TD_PANE_QUEUES], "notify::visible",
                           G_CALLBACK(lower_pane_changed), self);
  g_signal_connect_swapped(self->pane[TD_PANE_TIMELINE], "notify::visible",
                           G_CALLBACK(lower_pane_changed), self);
}
