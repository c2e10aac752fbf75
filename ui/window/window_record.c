/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_record.h"

#include "ui/model/document/document_segment.h"
#include "ui/model/playhead/playhead.h"
#include "ui/widgets/dialogs/record_dialog.h"
#include "ui/window/program_runner.h"

#include <glib/gi18n.h>

#define DIALOG "record-dialog"

/* A traceback ends in its reason. */
static void
say_problem(TdWindow *window, const char *problem) {
  g_autofree char *text = g_strdup_printf(_("The program failed: %s"), problem);
  td_window_say(window, text);
}

/* A program that was interrupted has a tape too. It opens unless the person went elsewhere. */
static void
recorded(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdWindow) window = data;
  g_autoptr(GError) error = NULL;
  g_autofree char *problem = NULL;
  g_autofree char *tape = td_program_record_finish(result, &problem, &error);
  GCancellable *cancellable = g_task_get_cancellable(G_TASK(result));
  gboolean is_stopped = g_cancellable_is_cancelled(cancellable);
  if (!td_window_end(window, cancellable) && !(is_stopped && td_window_is_at_start(window))) return;
  if (tape) {
    td_window_open(window, tape);
    if (problem && !is_stopped) say_problem(window, problem);
  } else if (!is_stopped) {
    td_window_show_failure(window, _("Cannot Record the Program"), error->message,
                           _("Run the command in a terminal to see all of its messages."));
  }
}

static void
record(TdRecordDialog *dialog, gpointer data) {
  TdWindow *window = data;
  TdProgram program = {td_record_dialog_get_command(dialog), td_record_dialog_get_folder(dialog),
                       td_record_dialog_finds_nan(dialog), td_record_dialog_is_live(dialog)};
  g_autofree char *title = g_markup_printf_escaped(_("Recording “%s”"), program.command);
  const char *text = program.is_live
                         ? _("Another window opens at the program's first event.")
                         : _("The program runs. Cancel interrupts it, and its tape opens.");
  GCancellable *cancellable = td_window_begin(window, title, text);
  td_program_record_async(&program, cancellable, recorded, g_object_ref(window));
}

static TdRecordDialog *
obtain_dialog(TdWindow *window) {
  TdRecordDialog *dialog = g_object_get_data(G_OBJECT(window), DIALOG);
  if (!dialog) {
    dialog = td_record_dialog_new(GTK_WINDOW(window));
    g_object_set_data(G_OBJECT(window), DIALOG, dialog);
    g_signal_connect_object(dialog, "record", G_CALLBACK(record), window, 0);
  }
  return dialog;
}

void
td_window_ask_program(TdWindow *window) {
  gtk_window_present(GTK_WINDOW(obtain_dialog(window)));
}

/* A tape names the script, and has neither its arguments nor its folder. */
void
td_window_ask_again(TdWindow *window) {
  TdRecordDialog *dialog = obtain_dialog(window);
  TdDocument *document = td_playhead_get_document(td_window_get_playhead(window));
  const char *source = td_document_get_whole(document)->source;
  g_autofree char *script = g_shell_quote(source);
  g_autofree char *command = g_strdup_printf("python3 %s", script);
  td_record_dialog_propose(dialog, g_str_has_suffix(source, ".py") ? command : "");
  gtk_window_present(GTK_WINDOW(dialog));
}
