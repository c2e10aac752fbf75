/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/tape_chooser.h"

#include <glib/gi18n.h>

typedef struct Wish {
  GtkWindow *parent; /* (owned) */
  void (*chosen)(GtkWindow *parent, const char *path);
} Wish;

static void
answered(GtkNativeDialog *dialog, int response, gpointer data) {
  Wish *wish = data;
  if (response == GTK_RESPONSE_ACCEPT) {
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    g_autofree char *path = g_file_get_path(file);
    if (path) wish->chosen(wish->parent, path);
  }
  gtk_native_dialog_destroy(dialog);
  g_object_unref(dialog);
  g_object_unref(wish->parent);
  g_free(wish);
}

static void
add_filter(GtkFileChooserNative *dialog, const char *name, const char *pattern) {
  g_autoptr(GtkFileFilter) filter = gtk_file_filter_new();
  gtk_file_filter_set_name(filter, name);
  gtk_file_filter_add_pattern(filter, pattern);
  gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
}

void
td_tape_chooser_show(GtkWindow *parent, const char *title, const char *accept,
                     void (*chosen)(GtkWindow *parent, const char *path)) {
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new(title, parent, GTK_FILE_CHOOSER_ACTION_OPEN, accept, NULL);
  Wish *wish = g_new(Wish, 1);
  *wish = (Wish){g_object_ref(parent), chosen};
  add_filter(dialog, _("Tapes"), "*.tape");
  add_filter(dialog, _("All files"), "*");
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
  g_signal_connect(dialog, "response", G_CALLBACK(answered), wish);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}
