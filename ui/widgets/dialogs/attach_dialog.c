/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/dialogs/attach_dialog.h"

#include "ui/widgets/base/focus.h"
#include "ui/widgets/base/list_bin.h"

#include <glib/gi18n.h>

struct _TdAttachDialog {
  AdwWindow parent_instance;
  GtkStack *pages;
  GtkSpinner *spinner;
  GtkListBox *list;
  GtkButton *refresh;
};

G_DEFINE_FINAL_TYPE(TdAttachDialog, td_attach_dialog, ADW_TYPE_WINDOW)

enum { SIGNAL_REFRESH, SIGNAL_ATTACH, N_SIGNALS };
static guint signals[N_SIGNALS];

static char *
dup_age(gint64 seconds) {
  guint64 minutes = (guint64)seconds / 60, hours = minutes / 60;
  if (seconds < 60) return g_strdup_printf(_("%u s"), (guint)seconds);
  if (minutes < 60) return g_strdup_printf(_("%u min"), (guint)minutes);
  if (hours < 48) return g_strdup_printf(_("%u h %u min"), (guint)hours, (guint)(minutes % 60));
  return g_strdup_printf(_("%u days"), (guint)(hours / 24));
}

static char *
dup_control(const TdAttachEntry *entry) {
  if (!entry->tape) return g_strdup(_("No backward pass has begun: there is nothing to see yet"));
  if (!entry->can_stop) return g_strdup(_("Cannot be stopped: recorded without --live"));
  if (entry->n_stopped == 0) return g_strdup(_("Can be stopped"));
  return g_strdup_printf(
      ngettext("%u thread is stopped", "%u threads are stopped", entry->n_stopped),
      entry->n_stopped);
}

static char *
dup_process(const TdAttachEntry *entry) {
  g_autofree char *age = entry->seconds < 0 ? NULL : dup_age(entry->seconds);
  return age ? g_strdup_printf(_("process %u, running for %s"), entry->process, age)
             : g_strdup_printf(_("process %u"), entry->process);
}

static char *
dup_details(const TdAttachEntry *entry) {
  g_autofree char *process = dup_process(entry), *control = dup_control(entry);
  return entry->tape ? g_strdup_printf("%s\n%s\n%s", process, entry->tape, control)
                     : g_strdup_printf("%s\n%s", process, control);
}

static const char *
icon_name(const TdAttachEntry *entry) {
  return entry->n_stopped ? "media-playback-pause-symbolic" : "media-playback-start-symbolic";
}

void
td_attach_dialog_add(TdAttachDialog *self, const TdAttachEntry *entry) {
  GtkWidget *row = adw_action_row_new();
  const char *command = entry->command ? entry->command : _("A program elsewhere");
  g_autofree char *details = dup_details(entry);
  g_autofree char *title = g_markup_escape_text(command, -1);
  g_autofree char *subtitle = g_markup_escape_text(details, -1);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
  adw_action_row_set_title_lines(ADW_ACTION_ROW(row), 2);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), subtitle);
  adw_action_row_add_prefix(ADW_ACTION_ROW(row), gtk_image_new_from_icon_name(icon_name(entry)));
  gtk_widget_set_tooltip_text(row, command);
  gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), entry->tape != NULL);
  gtk_widget_set_sensitive(row, entry->tape != NULL);
  gtk_list_box_append(self->list, row);
}

void
td_attach_dialog_wait(TdAttachDialog *self) {
  gtk_stack_set_visible_child_name(self->pages, "wait");
  gtk_spinner_set_spinning(self->spinner, TRUE);
  gtk_widget_set_sensitive(GTK_WIDGET(self->refresh), FALSE);
}

void
td_attach_dialog_begin(TdAttachDialog *self) {
  GtkListBoxRow *row;
  td_focus_drop(GTK_WIDGET(self->list));
  while ((row = gtk_list_box_get_row_at_index(self->list, 0)))
    gtk_list_box_remove(self->list, GTK_WIDGET(row));
}

void
td_attach_dialog_end(TdAttachDialog *self) {
  GtkListBoxRow *first = gtk_list_box_get_row_at_index(self->list, 0);
  gtk_spinner_set_spinning(self->spinner, FALSE);
  gtk_stack_set_visible_child_name(self->pages, first ? "list" : "empty");
  gtk_widget_set_sensitive(GTK_WIDGET(self->refresh), TRUE);
  gtk_widget_grab_focus(first ? GTK_WIDGET(first) : GTK_WIDGET(self->refresh));
}

static void
refresh(TdAttachDialog *self) {
  g_signal_emit(self, signals[SIGNAL_REFRESH], 0);
}

static void
activated(TdAttachDialog *self, GtkListBoxRow *row) {
  gtk_window_close(GTK_WINDOW(self));
  g_signal_emit(self, signals[SIGNAL_ATTACH], 0, (guint)gtk_list_box_row_get_index(row));
}

TdAttachDialog *
td_attach_dialog_new(GtkWindow *parent) {
  return g_object_new(TD_TYPE_ATTACH_DIALOG, "transient-for", parent, NULL);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdAttachDialog, child)

static void
td_attach_dialog_class_init(TdAttachDialogClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  signals[SIGNAL_REFRESH] = g_signal_new("refresh", TD_TYPE_ATTACH_DIALOG, G_SIGNAL_RUN_LAST, 0,
                                         NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SIGNAL_ATTACH] = g_signal_new("attach", TD_TYPE_ATTACH_DIALOG, G_SIGNAL_RUN_LAST, 0, NULL,
                                        NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  g_type_ensure(TD_TYPE_LIST_BIN);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/attach_dialog.ui");
  gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
  BIND(pages);
  BIND(spinner);
  BIND(list);
  BIND(refresh);
}

static void
td_attach_dialog_init(TdAttachDialog *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_signal_connect_swapped(self->refresh, "clicked", G_CALLBACK(refresh), self);
  g_signal_connect_swapped(self->list, "row-activated", G_CALLBACK(activated), self);
}
