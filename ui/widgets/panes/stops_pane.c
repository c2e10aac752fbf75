/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/stops_pane.h"

#include "ui/geometry/format.h"
#include "ui/model/live/stop_offers.h"
#include "ui/widgets/base/focus.h"

#include <glib/gi18n.h>

struct _TdStopsPane {
  GtkBox parent_instance;
  GtkListBox *rows;
  GtkEditable *entry;
  GtkMenuButton *kinds;
  GtkLabel *problem;
  TdPlayhead *playhead; /* (owned) */
  TdStopList *stops;    /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdStopsPane, td_stops_pane, GTK_TYPE_BOX)

/* ---- rows ---- */

static GtkWidget *
label_new(const char *text, const char *style) {
  GtkWidget *label = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
  if (style) gtk_widget_add_css_class(label, style);
  return label;
}

static GtkWidget *
texts_new(TdStopsPane *self, TdStop *stop) {
  const char *note = td_stop_list_get_note(self->stops, stop);
  g_autofree char *help = note ? g_strdup_printf("%s · %s", note, td_stop_get_help(stop))
                               : g_strdup(td_stop_get_help(stop));
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *below = label_new(help, "dim-label");
  gtk_widget_add_css_class(below, "caption");
  gtk_widget_set_tooltip_text(below, help);
  gtk_widget_set_hexpand(box, TRUE);
  gtk_box_append(GTK_BOX(box), label_new(td_stop_get_text(stop), NULL));
  gtk_box_append(GTK_BOX(box), below);
  return box;
}

static void
show_hits(TdStop *stop, GParamSpec *spec, GtkLabel *label) {
  gint64 hits = td_stop_get_hits(stop);
  g_autofree char *count = td_format_count((uint64_t)MAX(hits, 0));
  g_autofree char *text =
      g_strdup_printf(ngettext("%s hit", "%s hits", (gulong)MAX(hits, 0)), count);
  gtk_label_set_text(label, hits < 0 ? "" : text);
}

static GtkWidget *
hits_new(TdStop *stop) {
  GtkWidget *label = gtk_label_new(NULL);
  gtk_widget_add_css_class(label, "numeric");
  gtk_widget_add_css_class(label, "dim-label");
  g_signal_connect_object(stop, "notify::hits", G_CALLBACK(show_hits), label, 0);
  show_hits(stop, NULL, GTK_LABEL(label));
  return label;
}

static void
remove_stop(GtkWidget *button, TdStopsPane *self) {
  td_stop_list_remove(self->stops, g_object_get_data(G_OBJECT(button), "stop"));
}

static GtkWidget *
remove_new(TdStopsPane *self, TdStop *stop) {
  GtkWidget *button = gtk_button_new_from_icon_name("list-remove-symbolic");
  g_autofree char *name = g_strdup_printf(_("Remove %s"), td_stop_get_text(stop));
  gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class(button, "flat");
  gtk_widget_set_tooltip_text(button, name);
  gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_object_set_data_full(G_OBJECT(button), "stop", g_object_ref(stop), g_object_unref);
  g_signal_connect_object(button, "clicked", G_CALLBACK(remove_stop), self, 0);
  return button;
}

static GtkWidget *
switch_new(TdStop *stop) {
  GtkWidget *on = gtk_switch_new();
  gtk_widget_set_valign(on, GTK_ALIGN_CENTER);
  g_object_bind_property(stop, "enabled", on, "active",
                         G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
  gtk_accessible_update_property(GTK_ACCESSIBLE(on), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 td_stop_get_text(stop), -1);
  return on;
}

static GtkWidget *
row_new(gpointer item, gpointer data) {
  TdStopsPane *self = data;
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 9);
  gtk_widget_add_css_class(box, "stop");
  gtk_box_append(GTK_BOX(box), switch_new(item));
  gtk_box_append(GTK_BOX(box), texts_new(self, item));
  gtk_box_append(GTK_BOX(box), hits_new(item));
  gtk_box_append(GTK_BOX(box), remove_new(self, item));
  return box;
}

/* ---- a new stop ---- */

static void
show_problem(TdStopsPane *self, const char *problem) {
  gtk_label_set_text(self->problem, problem ? problem : "");
  gtk_widget_set_visible(GTK_WIDGET(self->problem), problem != NULL);
  if (problem)
    gtk_widget_add_css_class(GTK_WIDGET(self->entry), "error");
  else
    gtk_widget_remove_css_class(GTK_WIDGET(self->entry), "error");
}

static gboolean
add(TdStopsPane *self, const char *text) {
  g_autoptr(GError) error = NULL;
  gboolean fine = td_stop_list_add(self->stops, text, &error);
  show_problem(self, error ? error->message : NULL);
  return fine;
}

static void
entered(TdStopsPane *self) {
  g_autofree char *text = g_strstrip(g_strdup(gtk_editable_get_text(self->entry)));
  if (*text && add(self, text)) gtk_editable_set_text(self->entry, "");
}

static void
typed(TdStopsPane *self) {
  show_problem(self, NULL);
}

/* What has an argument is finished by hand. */
static void
kind_chosen(GSimpleAction *action, GVariant *parameter, gpointer data) {
  TdStopsPane *self = data;
  const char *text = g_variant_get_string(parameter, NULL);
  if (!g_str_has_suffix(text, ":")) {
    add(self, text);
    return;
  }
  gtk_editable_set_text(self->entry, text);
  gtk_widget_grab_focus(GTK_WIDGET(self->entry));
  gtk_editable_set_position(self->entry, -1);
}

/* A menu takes a single underscore as the mark of a key. */
static void
append_item(GMenu *menu, const char *title, const char *condition) {
  g_autofree char *text = g_strdup_printf("%s — %s", title, condition);
  g_auto(GStrv) parts = g_strsplit(text, "_", -1);
  g_autofree char *label = g_strjoinv("__", parts);
  g_autoptr(GMenuItem) item = g_menu_item_new(label, NULL);
  g_menu_item_set_action_and_target(item, "stops.add", "s", condition);
  g_menu_append_item(menu, item);
}

static void
append_section(GMenu *menu, GPtrArray *offers) {
  g_autoptr(GMenu) section = g_menu_new();
  for (guint i = 0; i < offers->len; i++) {
    const TdStopOffer *offer = offers->pdata[i];
    append_item(section, offer->title, offer->condition);
  }
  g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
}

static void
fill_kinds(GtkMenuButton *button, gpointer data) {
  TdStopsPane *self = data;
  g_autoptr(GMenu) menu = g_menu_new();
  g_autoptr(GPtrArray) of_node = td_stop_offers_of_node(self->playhead);
  g_autoptr(GPtrArray) of_kinds = td_stop_offers_of_kinds();
  append_section(menu, of_node);
  append_section(menu, of_kinds);
  gtk_menu_button_set_menu_model(button, G_MENU_MODEL(menu));
}

/* The popover chooses its focus while it opens. */
static gboolean
focus_entry(gpointer data) {
  gtk_widget_grab_focus(GTK_WIDGET(TD_STOPS_PANE(data)->entry));
  return G_SOURCE_REMOVE;
}

static void
mapped(TdStopsPane *self) {
  g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, focus_entry, g_object_ref(self), g_object_unref);
}

void
td_stops_pane_set_stops(TdStopsPane *self, TdPlayhead *playhead, TdStopList *stops) {
  self->playhead = g_object_ref(playhead);
  self->stops = g_object_ref(stops);
  g_signal_connect_object(stops, "items-changed", G_CALLBACK(td_focus_drop), self->rows,
                          G_CONNECT_SWAPPED); /* comes before the row goes */
  gtk_list_box_bind_model(self->rows, G_LIST_MODEL(stops), row_new, self, NULL);
}

static void
td_stops_pane_dispose(GObject *object) {
  TdStopsPane *self = TD_STOPS_PANE(object);
  g_clear_object(&self->stops);
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_stops_pane_parent_class)->dispose(object);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdStopsPane, child)

static void
td_stops_pane_class_init(TdStopsPaneClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_stops_pane_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/stops_pane.ui");
  BIND(rows);
  BIND(entry);
  BIND(kinds);
  BIND(problem);
}

static void
td_stops_pane_init(TdStopsPane *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
  g_autoptr(GSimpleAction) action = g_simple_action_new("add", G_VARIANT_TYPE_STRING);
  g_signal_connect(action, "activate", G_CALLBACK(kind_chosen), self);
  g_action_map_add_action(G_ACTION_MAP(group), G_ACTION(action));
  gtk_widget_insert_action_group(GTK_WIDGET(self), "stops", G_ACTION_GROUP(group));
  gtk_menu_button_set_create_popup_func(self->kinds, fill_kinds, self, NULL);
  g_signal_connect(self, "map", G_CALLBACK(mapped), NULL);
  g_signal_connect_swapped(self->entry, "activate", G_CALLBACK(entered), self);
  g_signal_connect_swapped(self->entry, "changed", G_CALLBACK(typed), self);
}
