/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/bookmark_list.h"

#include "ui/geometry/format.h"
#include "ui/widgets/base/focus.h"

#include <glib/gi18n.h>

struct _TdBookmarkList {
  GtkPopover parent_instance;
  GtkWidget *scroller, *empty;
  GtkListBox *rows;
  TdBookmarks *bookmarks; /* (owned) */
  gboolean is_writing;    /* a note changes: the row that holds its entry stays */
};

G_DEFINE_FINAL_TYPE(TdBookmarkList, td_bookmark_list, GTK_TYPE_POPOVER)

/* The child of a row knows its bookmark by the position. */
static uint64_t
position_of(gpointer widget) {
  return *(uint64_t *)g_object_get_data(widget, "position");
}

static void
set_position(gpointer widget, uint64_t position) {
  g_object_set_data_full(widget, "position", g_memdup2(&position, sizeof position), g_free);
}

static char *
place_text(const TdBookmark *bookmark) {
  if (bookmark->position == 0) return g_strdup(_("start"));
  g_autofree char *event = td_format_count(bookmark->position - 1);
  g_autofree char *time = td_format_ns((double)bookmark->time_ns);
  return g_strdup_printf(_("event %s · %s"), event, time);
}

static void
go(GtkWidget *button, gpointer data) {
  TdPlayhead *playhead = td_bookmarks_get_playhead(TD_BOOKMARK_LIST(data)->bookmarks);
  td_playhead_set_playing(playhead, FALSE);
  td_playhead_set_position(playhead, position_of(button));
}

static void
take_away(GtkWidget *button, gpointer data) {
  td_bookmarks_remove(TD_BOOKMARK_LIST(data)->bookmarks, position_of(button));
}

static void
write_note(GtkEditable *entry, gpointer data) {
  TdBookmarkList *self = data;
  self->is_writing = TRUE;
  td_bookmarks_set_note(self->bookmarks, position_of(entry), gtk_editable_get_text(entry));
  self->is_writing = FALSE;
}

static GtkWidget *
go_button(TdBookmarkList *self, const TdBookmark *bookmark) {
  g_autofree char *place = place_text(bookmark);
  GtkWidget *button = gtk_button_new_with_label(place);
  gtk_widget_set_tooltip_text(button, _("Go to this bookmark"));
  gtk_widget_add_css_class(button, "flat");
  gtk_widget_add_css_class(button, "numeric");
  set_position(button, bookmark->position);
  g_signal_connect(button, "clicked", G_CALLBACK(go), self);
  return button;
}

static GtkWidget *
note_entry(TdBookmarkList *self, const TdBookmark *bookmark) {
  GtkWidget *entry = gtk_entry_new();
  gtk_entry_set_placeholder_text(GTK_ENTRY(entry), _("Note"));
  gtk_editable_set_text(GTK_EDITABLE(entry), bookmark->note);
  gtk_widget_set_hexpand(entry, TRUE);
  gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Note"),
                                 -1);
  set_position(entry, bookmark->position);
  g_signal_connect(entry, "changed", G_CALLBACK(write_note), self);
  g_signal_connect_swapped(entry, "activate", G_CALLBACK(gtk_popover_popdown), self);
  return entry;
}

static GtkWidget *
remove_button(TdBookmarkList *self, const TdBookmark *bookmark) {
  GtkWidget *button = gtk_button_new_from_icon_name("user-trash-symbolic");
  gtk_widget_set_tooltip_text(button, _("Take this bookmark away"));
  gtk_widget_add_css_class(button, "flat");
  set_position(button, bookmark->position);
  g_signal_connect(button, "clicked", G_CALLBACK(take_away), self);
  gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Take this bookmark away"), -1);
  return button;
}

static void
add_row(TdBookmarkList *self, const TdBookmark *bookmark) {
  GtkWidget *row = gtk_list_box_row_new();
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_box_append(GTK_BOX(box), note_entry(self, bookmark));
  gtk_box_append(GTK_BOX(box), go_button(self, bookmark));
  gtk_box_append(GTK_BOX(box), remove_button(self, bookmark));
  gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
  gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
  gtk_widget_set_focusable(row, FALSE);
  gtk_list_box_append(self->rows, row);
}

static void
fill(TdBookmarkList *self) {
  GtkListBoxRow *row;
  guint n;
  if (self->is_writing) return;
  td_focus_drop(GTK_WIDGET(self->rows));
  while ((row = gtk_list_box_get_row_at_index(self->rows, 0)))
    gtk_list_box_remove(self->rows, GTK_WIDGET(row));
  const TdBookmark *bookmarks = td_bookmarks_get(self->bookmarks, &n);
  for (guint i = 0; i < n; i++)
    add_row(self, &bookmarks[i]);
  gtk_widget_set_visible(self->scroller, n > 0);
  gtk_widget_set_visible(self->empty, n == 0);
}

void
td_bookmark_list_set_bookmarks(TdBookmarkList *self, TdBookmarks *bookmarks) {
  if (!g_set_object(&self->bookmarks, bookmarks)) return;
  g_signal_connect_object(bookmarks, "changed", G_CALLBACK(fill), self, G_CONNECT_SWAPPED);
  fill(self);
}

void
td_bookmark_list_write(TdBookmarkList *self, uint64_t position) {
  GtkListBoxRow *row;
  for (int i = 0; (row = gtk_list_box_get_row_at_index(self->rows, i)); i++) {
    GtkWidget *entry = gtk_widget_get_first_child(gtk_list_box_row_get_child(row));
    if (position_of(entry) == position) gtk_widget_grab_focus(entry);
  }
}

static void
td_bookmark_list_dispose(GObject *object) {
  g_clear_object(&TD_BOOKMARK_LIST(object)->bookmarks);
  G_OBJECT_CLASS(td_bookmark_list_parent_class)->dispose(object);
}

static void
td_bookmark_list_class_init(TdBookmarkListClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_bookmark_list_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/bookmark_list.ui");
  gtk_widget_class_bind_template_child(widget_class, TdBookmarkList, scroller);
  gtk_widget_class_bind_template_child(widget_class, TdBookmarkList, empty);
  gtk_widget_class_bind_template_child(widget_class, TdBookmarkList, rows);
}

static void
td_bookmark_list_init(TdBookmarkList *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
}
