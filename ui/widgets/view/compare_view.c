/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/view/compare_view.h"

#include "ui/widgets/view/compare_side.h"

#include <glib/gi18n.h>

struct _TdCompareView {
  GtkBox parent_instance;
  GtkLabel *verdict;
  GtkWidget *difference;
  TdCompareSide *a, *b;
  GtkButton *play;
  GtkAdjustment *adjustment;
  GtkLabel *lead;
  TdSideBySide *sides; /* (owned) */
  guint tick;          /* id of the tick callback while playing, or 0 */
  gboolean is_setting; /* the slider follows, and nobody drags it */
};

G_DEFINE_FINAL_TYPE(TdCompareView, td_compare_view, GTK_TYPE_BOX)

static const char *const letters[2] = {"A", "B"};

static TdCompareSide *
side_of(TdCompareView *self, int side) {
  return side ? self->b : self->a;
}

static TdPlayhead *
get_lead(TdCompareView *self) {
  return td_side_by_side_get_playhead(self->sides, td_side_by_side_get_lead(self->sides));
}

/* ---- the bar ---- */

static void
position_changed(TdCompareView *self) {
  self->is_setting = TRUE;
  gtk_adjustment_set_value(self->adjustment, (double)td_playhead_get_target(get_lead(self)));
  self->is_setting = FALSE;
}

static void
scale_moved(TdCompareView *self) {
  uint64_t position = (uint64_t)(gtk_adjustment_get_value(self->adjustment) + 0.5);
  TdPlayhead *lead = get_lead(self);
  if (self->is_setting || position == td_playhead_get_target(lead)) return;
  td_playhead_set_playing(lead, FALSE);
  td_playhead_set_position(lead, position);
}

static void
show_range(TdCompareView *self) {
  const td_alignment *alignment = td_side_by_side_get_aligned(self->sides)->alignment;
  int lead = td_side_by_side_get_lead(self->sides);
  double first = (double)td_alignment_first(alignment, lead);
  double last = (double)td_alignment_last(alignment, lead);
  self->is_setting = TRUE;
  gtk_adjustment_configure(self->adjustment, (double)td_playhead_get_target(get_lead(self)), first,
                           last, 1, MAX(10, (last - first) / 50), 0);
  self->is_setting = FALSE;
}

static gboolean
tick_cb(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  td_playhead_tick(get_lead(TD_COMPARE_VIEW(widget)), gdk_frame_clock_get_frame_time(clock));
  return G_SOURCE_CONTINUE;
}

static void
stop_ticking(TdCompareView *self) {
  if (self->tick) gtk_widget_remove_tick_callback(GTK_WIDGET(self), self->tick);
  self->tick = 0;
}

static void
playing_changed(TdCompareView *self) {
  gboolean playing = td_playhead_get_playing(get_lead(self));
  stop_ticking(self);
  if (playing) self->tick = gtk_widget_add_tick_callback(GTK_WIDGET(self), tick_cb, NULL, NULL);
  gtk_button_set_icon_name(self->play, playing ? "media-playback-pause-symbolic"
                                               : "media-playback-start-symbolic");
}

/* ---- the sides ---- */

static void
lead_changed(TdCompareView *self) {
  int lead = td_side_by_side_get_lead(self->sides);
  g_autofree char *text = g_strdup_printf(_("%s leads"), letters[lead]);
  gtk_label_set_text(self->lead, text);
  for (int side = 0; side < 2; side++)
    td_compare_side_set_lead(side_of(self, side), side == lead);
  if (td_side_by_side_get_aligned(self->sides)) show_range(self);
  playing_changed(self);
}

static void
focused(TdCompareView *self, TdCompareSide *side) {
  td_side_by_side_set_lead(self->sides, side == self->b);
}

static void
shown(TdCompareView *self) {
  const TdAligned *aligned = td_side_by_side_get_aligned(self->sides);
  gtk_label_set_text(self->verdict, aligned->text);
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->verdict), aligned->text);
  gtk_widget_set_visible(self->difference, aligned->has_difference);
  for (int side = 0; side < 2; side++) {
    uint32_t n;
    const uint32_t *lone = td_alignment_get_lone(aligned->alignment, side, &n);
    td_compare_side_set_lone(side_of(self, side), lone, n);
  }
  lead_changed(self);
}

void
td_compare_view_set_sides(TdCompareView *self, TdSideBySide *sides) {
  g_set_object(&self->sides, sides);
  for (int side = 0; side < 2; side++) {
    TdPlayhead *playhead = td_side_by_side_get_playhead(sides, side);
    td_compare_side_set_playhead(side_of(self, side), letters[side], playhead);
    g_signal_connect_swapped(side_of(self, side), "focused", G_CALLBACK(focused), self);
    g_signal_connect_object(playhead, "notify::position", G_CALLBACK(position_changed), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(playhead, "notify::travelling", G_CALLBACK(position_changed), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(playhead, "notify::playing", G_CALLBACK(playing_changed), self,
                            G_CONNECT_SWAPPED);
  }
  g_signal_connect_object(sides, "lead-changed", G_CALLBACK(lead_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object(sides, "shown", G_CALLBACK(shown), self, G_CONNECT_SWAPPED);
  g_signal_connect_swapped(self->adjustment, "value-changed", G_CALLBACK(scale_moved), self);
}

void
td_compare_view_set_title(TdCompareView *self, int side, const char *title) {
  td_compare_side_set_title(side_of(self, side), title);
}

void
td_compare_view_show_difference(TdCompareView *self) {
  const TdAligned *aligned = td_side_by_side_get_aligned(self->sides);
  if (!td_side_by_side_go_to_difference(self->sides)) return;
  for (int side = 0; side < 2; side++)
    td_compare_side_centre(side_of(self, side), aligned->node[side]);
}

void
td_compare_view_lead_other(TdCompareView *self) {
  int other = !td_side_by_side_get_lead(self->sides);
  td_side_by_side_set_lead(self->sides, other);
  gtk_widget_grab_focus(GTK_WIDGET(td_compare_side_get_graph(side_of(self, other))));
}

void
td_compare_view_zoom(TdCompareView *self, double factor) {
  for (int side = 0; side < 2; side++)
    td_graph_canvas_zoom(td_compare_side_get_graph(side_of(self, side)), factor);
}

void
td_compare_view_fit(TdCompareView *self) {
  for (int side = 0; side < 2; side++)
    td_graph_canvas_fit(td_compare_side_get_graph(side_of(self, side)));
}

void
td_compare_view_show_whole(TdCompareView *self) {
  gboolean showed_part = FALSE;
  for (int side = 0; side < 2; side++) {
    TdGraphCanvas *graph = td_compare_side_get_graph(side_of(self, side));
    showed_part |= td_subset_choice_clear(td_graph_canvas_get_subset_choice(graph));
  }
  if (!showed_part) td_playhead_set_selection(get_lead(self), TD_NONE);
}

static void
td_compare_view_dispose(GObject *object) {
  TdCompareView *self = TD_COMPARE_VIEW(object);
  stop_ticking(self);
  for (int side = 0; side < 2 && self->sides; side++)
    g_signal_handlers_disconnect_by_data(td_side_by_side_get_playhead(self->sides, side), self);
  if (self->sides) g_signal_handlers_disconnect_by_data(self->sides, self);
  g_clear_object(&self->sides);
  G_OBJECT_CLASS(td_compare_view_parent_class)->dispose(object);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdCompareView, child)

static void
td_compare_view_class_init(TdCompareViewClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_compare_view_dispose;
  g_type_ensure(TD_TYPE_COMPARE_SIDE);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/compare_view.ui");
  BIND(verdict);
  BIND(difference);
  BIND(a);
  BIND(b);
  BIND(play);
  BIND(adjustment);
  BIND(lead);
}

static void
td_compare_view_init(TdCompareView *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
}
