/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/dialogs/record_dialog.h"

#include <glib/gi18n.h>

struct _TdRecordDialog {
  AdwWindow parent_instance;
  GtkEditable *command, *folder;
  GtkSwitch *nan, *live;
  GtkButton *choose, *record;
};

G_DEFINE_FINAL_TYPE(TdRecordDialog, td_record_dialog, ADW_TYPE_WINDOW)

static guint record_signal;

/* A line that no shell could split, or a folder that is none, cannot be recorded. */
static void
check(TdRecordDialog *self) {
  g_auto(GStrv) words = NULL;
  gboolean typed = *gtk_editable_get_text(self->command) != '\0';
  gboolean splits = g_shell_parse_argv(td_record_dialog_get_command(self), NULL, &words, NULL);
  gboolean folder = g_file_test(td_record_dialog_get_folder(self), G_FILE_TEST_IS_DIR);
  (typed && !splits ? gtk_widget_add_css_class
                    : gtk_widget_remove_css_class)(GTK_WIDGET(self->command), "error");
  (folder ? gtk_widget_remove_css_class : gtk_widget_add_css_class)(GTK_WIDGET(self->folder),
                                                                    "error");
  gtk_widget_set_sensitive(GTK_WIDGET(self->record), splits && folder);
}

static void
record(TdRecordDialog *self) {
  if (!gtk_widget_get_sensitive(GTK_WIDGET(self->record))) return;
  gtk_window_close(GTK_WINDOW(self));
  g_signal_emit(self, record_signal, 0);
}

static void
folder_chosen(GtkNativeDialog *dialog, int response, gpointer data) {
  TdRecordDialog *self = data;
  if (response == GTK_RESPONSE_ACCEPT) {
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    g_autofree char *path = g_file_get_path(file);
    if (path) gtk_editable_set_text(self->folder, path);
  }
  gtk_native_dialog_destroy(dialog);
  g_object_unref(dialog);
}

static void
choose_folder(TdRecordDialog *self) {
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new(_("Folder of the Program"), GTK_WINDOW(self),
                                  GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, _("_Choose"), NULL);
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
  g_signal_connect(dialog, "response", G_CALLBACK(folder_chosen), self);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

const char *
td_record_dialog_get_command(TdRecordDialog *self) {
  return gtk_editable_get_text(self->command);
}

const char *
td_record_dialog_get_folder(TdRecordDialog *self) {
  return gtk_editable_get_text(self->folder);
}

gboolean
td_record_dialog_finds_nan(TdRecordDialog *self) {
  return gtk_switch_get_active(self->nan);
}

gboolean
td_record_dialog_is_live(TdRecordDialog *self) {
  return gtk_switch_get_active(self->live);
}

void
td_record_dialog_propose(TdRecordDialog *self, const char *command) {
  gtk_switch_set_active(self->nan, TRUE);
  if (!*td_record_dialog_get_command(self)) gtk_editable_set_text(self->command, command);
}

TdRecordDialog *
td_record_dialog_new(GtkWindow *parent) {
  return g_object_new(TD_TYPE_RECORD_DIALOG, "transient-for", parent, NULL);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdRecordDialog, child)

static void
td_record_dialog_class_init(TdRecordDialogClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  record_signal = g_signal_new("record", TD_TYPE_RECORD_DIALOG, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                               NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/record_dialog.ui");
  gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
  BIND(command);
  BIND(folder);
  BIND(nan);
  BIND(live);
  BIND(choose);
  BIND(record);
}

static void
td_record_dialog_init(TdRecordDialog *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_autofree char *here = g_get_current_dir();
  gtk_editable_set_text(self->folder, here);
  g_signal_connect_swapped(self->command, "changed", G_CALLBACK(check), self);
  g_signal_connect_swapped(self->command, "entry-activated", G_CALLBACK(record), self);
  g_signal_connect_swapped(self->folder, "changed", G_CALLBACK(check), self);
  g_signal_connect_swapped(self->choose, "clicked", G_CALLBACK(choose_folder), self);
  g_signal_connect_swapped(self->record, "clicked", G_CALLBACK(record), self);
  check(self);
}
