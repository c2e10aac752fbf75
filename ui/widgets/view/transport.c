/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/view/transport.h"

#include "ui/geometry/format.h"
#include "ui/widgets/panes/stops_pane.h"

#include <glib/gi18n.h>

struct _TdTransport {
  GtkBox parent_instance;
  GtkButton *play;
  GtkScale *scale;
  GtkAdjustment *adjustment;
  GtkLabel *position, *event; /* event: short, for a narrow window */
  GtkDropDown *speed;
  GtkMenuButton *stops_button;
  TdStopsPane *stops;
  TdPlayhead *playhead; /* (owned) */
  guint tick;           /* id of the tick callback while playing, or 0 */
};

G_DEFINE_FINAL_TYPE(TdTransport, td_transport, GTK_TYPE_BOX)

static gboolean
tick_cb(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  td_playhead_tick(TD_TRANSPORT(widget)->playhead, gdk_frame_clock_get_frame_time(clock));
  return G_SOURCE_CONTINUE;
}

static void
playing_changed(TdTransport *self) {
  gboolean playing = td_playhead_get_playing(self->playhead);
  GtkWidget *widget = GTK_WIDGET(self);
  if (playing && !self->tick)
    self->tick = gtk_widget_add_tick_callback(widget, tick_cb, NULL, NULL);
  if (!playing && self->tick) {
    gtk_widget_remove_tick_callback(widget, self->tick);
    self->tick = 0;
  }
  gtk_button_set_icon_name(self->play, playing ? "media-playback-pause-symbolic"
                                               : "media-playback-start-symbolic");
}

static void
scale_moved(TdTransport *self) {
  uint64_t position = (uint64_t)(gtk_adjustment_get_value(self->adjustment) + 0.5);
  if (position == td_playhead_get_target(self->playhead)) return;
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_set_position(self->playhead, position);
}

static char *
target_text(TdPlayhead *playhead) {
  uint64_t target = td_playhead_get_target(playhead);
  g_autofree char *event = td_format_count(target ? target - 1 : 0);
  return g_strdup_printf(_("going to event %s"), event);
}

static char *
short_text(TdPlayhead *playhead) {
  uint64_t target = td_playhead_get_target(playhead);
  g_autofree char *event = td_format_count(target ? target - 1 : 0);
  return target ? g_strdup_printf(_("event %s"), event) : g_strdup(_("start"));
}

static char *
position_text(TdPlayhead *playhead) {
  g_autofree char *length = td_format_count(td_playhead_get_length(playhead));
  uint64_t position = td_playhead_get_position(playhead);
  if (position == 0)
    return g_strdup_printf(ngettext("start of %s event", "start of %s events",
                                    (gulong)td_playhead_get_length(playhead)),
                           length);
  g_autofree char *event = td_format_count(position - 1);
  g_autofree char *time = td_format_ns((double)td_playhead_get_time_ns(playhead));
  return g_strdup_printf(_("event %s of %s · %s"), event, length, time);
}

static void
position_changed(TdTransport *self) {
  if (!td_playhead_get_document(self->playhead)) return;
  gboolean travels = td_playhead_is_travelling(self->playhead);
  gtk_adjustment_set_value(self->adjustment, (double)td_playhead_get_target(self->playhead));
  g_autofree char *text = travels ? target_text(self->playhead) : position_text(self->playhead);
  g_autofree char *in_short = short_text(self->playhead);
  gtk_label_set_text(self->position, text);
  gtk_label_set_text(self->event, in_short);
}

/* So wide that the slider does not jump while the text changes. */
static void
reserve_width(TdTransport *self) {
  g_autofree char *length = td_format_count(td_playhead_get_length(self->playhead));
  g_autofree char *text = g_strdup_printf(_("event %s of %s · %s"), length, length, "888 ms");
  g_autofree char *in_short = g_strdup_printf(_("event %s"), length);
  gtk_label_set_width_chars(self->position, (int)g_utf8_strlen(text, -1));
  gtk_label_set_width_chars(self->event, (int)g_utf8_strlen(in_short, -1));
}

static void
document_changed(TdTransport *self) {
  if (!td_playhead_get_document(self->playhead)) return;
  double length = (double)td_playhead_get_length(self->playhead);
  g_signal_handlers_block_by_func(self->adjustment, scale_moved, self);
  gtk_adjustment_set_upper(self->adjustment, length);
  gtk_adjustment_set_page_increment(self->adjustment, MAX(10, length / 50));
  reserve_width(self);
  position_changed(self);
  g_signal_handlers_unblock_by_func(self->adjustment, scale_moved, self);
}

static void
speed_chosen(TdTransport *self) {
  guint chosen = gtk_drop_down_get_selected(self->speed);
  if (chosen < td_speed_count()) td_playhead_set_speed(self->playhead, chosen);
}

static void
speed_changed(TdTransport *self) {
  gtk_drop_down_set_selected(self->speed, td_playhead_get_speed(self->playhead));
}

void
td_transport_set_playhead(TdTransport *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(position_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::travelling", G_CALLBACK(position_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::playing", G_CALLBACK(playing_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::speed", G_CALLBACK(speed_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_swapped(self->adjustment, "value-changed", G_CALLBACK(scale_moved), self);
  speed_changed(self);
  g_signal_connect_swapped(self->speed, "notify::selected", G_CALLBACK(speed_chosen), self);
}

void
td_transport_set_stops(TdTransport *self, TdStopList *stops) {
  td_stops_pane_set_stops(self->stops, self->playhead, stops);
}

void
td_transport_show_stops(TdTransport *self) {
  gtk_menu_button_popup(self->stops_button);
}

static void
td_transport_dispose(GObject *object) {
  TdTransport *self = TD_TRANSPORT(object);
  if (self->tick) gtk_widget_remove_tick_callback(GTK_WIDGET(self), self->tick);
  self->tick = 0;
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_transport_parent_class)->dispose(object);
}

static void
td_transport_class_init(TdTransportClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_transport_dispose;
  g_type_ensure(TD_TYPE_STOPS_PANE);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/transport.ui");
  gtk_widget_class_bind_template_child(widget_class, TdTransport, play);
  gtk_widget_class_bind_template_child(widget_class, TdTransport, scale);
  gtk_widget_class_bind_template_child(widget_class, TdTransport, adjustment);
  gtk_widget_class_bind_template_child(widget_class, TdTransport, position);
  gtk_widget_class_bind_template_child(widget_class, TdTransport, event);
  gtk_widget_class_bind_template_child(widget_class, TdTransport, speed);
  gtk_widget_class_bind_template_child(widget_class, TdTransport, stops_button);
  gtk_widget_class_bind_template_child(widget_class, TdTransport, stops);
}

static void
td_transport_init(TdTransport *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
  for (guint i = 0; i < td_speed_count(); i++) {
    g_autofree char *name = td_speed_dup_text(i);
    gtk_string_list_append(names, name);
  }
  gtk_drop_down_set_model(self->speed, G_LIST_MODEL(names));
}
