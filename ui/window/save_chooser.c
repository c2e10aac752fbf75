/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/save_chooser.h"

#include <glib/gi18n.h>

typedef struct Question {
  void (*chosen)(const char *path, gpointer data);
  gpointer data;
  GDestroyNotify done;
} Question;

static void
question_free(gpointer data, GClosure *closure) {
  Question *question = data;
  question->done(question->data);
  g_free(question);
}

static void
answered(GtkNativeDialog *dialog, int response, gpointer data) {
  const Question *question = data;
  if (response == GTK_RESPONSE_ACCEPT) {
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    g_autofree char *path = file ? g_file_get_path(file) : NULL;
    if (path) question->chosen(path, question->data);
  }
  gtk_native_dialog_destroy(dialog);
  g_object_unref(dialog);
}

static void
suggest(GtkFileChooser *dialog, const TdSaveWish *wish) {
  g_autofree char *base = g_path_get_basename(wish->tape);
  g_autofree char *folder = g_path_get_dirname(wish->tape);
  if (g_str_has_suffix(base, ".tape")) base[strlen(base) - strlen(".tape")] = '\0';
  g_autofree char *name = g_strconcat(base, wish->ending, NULL);
  g_autoptr(GFile) file = g_file_new_for_path(folder);
  gtk_file_chooser_set_current_folder(dialog, file, NULL);
  gtk_file_chooser_set_current_name(dialog, name);
}

void
td_save_chooser_show(GtkWindow *parent, const TdSaveWish *wish,
                     void (*chosen)(const char *path, gpointer data), gpointer data,
                     GDestroyNotify done) {
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
      wish->title, parent, GTK_FILE_CHOOSER_ACTION_SAVE, _("_Save"), NULL);
  Question *question = g_new(Question, 1);
  *question = (Question){chosen, data, done};
  if (wish->filter) gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), wish->filter);
  suggest(GTK_FILE_CHOOSER(dialog), wish);
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
  g_signal_connect_data(dialog, "response", G_CALLBACK(answered), question, question_free, 0);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}
