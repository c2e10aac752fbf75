/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_attach.h"

#include "app/session/session_list.h"
#include "ui/widgets/dialogs/attach_dialog.h"

#define DIALOG "attach-dialog"
#define PROGRAMS "attach-programs" /* of the dialog: what it lists */

static void
show_programs(TdAttachDialog *dialog, GPtrArray *programs) {
  td_attach_dialog_begin(dialog);
  for (guint i = 0; i < programs->len; i++) {
    const td_session_program *program = programs->pdata[i];
    td_attach_dialog_add(dialog, &(TdAttachEntry){.command = program->command,
                                                  .process = program->pid,
                                                  .seconds = program->seconds,
                                                  .tape = program->tape,
                                                  .can_stop = program->can_stop,
                                                  .n_stopped = program->n_stopped});
  }
  td_attach_dialog_end(dialog);
}

static void
listed(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdAttachDialog) dialog = data;
  GPtrArray *programs = td_session_list_finish(result, NULL);
  if (!programs) return; /* the window is gone */
  show_programs(dialog, programs);
  g_object_set_data_full(G_OBJECT(dialog), PROGRAMS, programs, (GDestroyNotify)g_ptr_array_unref);
}

static void
look(TdAttachDialog *dialog) {
  td_attach_dialog_wait(dialog);
  td_session_list_async(NULL, listed, g_object_ref(dialog));
}

static void
attach(TdWindow *window, guint number, TdAttachDialog *dialog) {
  GPtrArray *programs = g_object_get_data(G_OBJECT(dialog), PROGRAMS);
  if (!programs || number >= programs->len) return;
  const td_session_program *program = programs->pdata[number];
  td_window_attach(window, program->session, program->pid, program->tape, NULL);
}

void
td_window_ask_running(TdWindow *window) {
  TdAttachDialog *dialog = g_object_get_data(G_OBJECT(window), DIALOG);
  if (!dialog) {
    dialog = td_attach_dialog_new(GTK_WINDOW(window));
    g_object_set_data(G_OBJECT(window), DIALOG, dialog);
    g_signal_connect(dialog, "refresh", G_CALLBACK(look), NULL);
    g_signal_connect_object(dialog, "attach", G_CALLBACK(attach), window, G_CONNECT_SWAPPED);
  }
  gtk_window_present(GTK_WINDOW(dialog));
  look(dialog);
}
