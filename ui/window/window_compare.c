/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_compare.h"

#include "ui/model/document/document_segment.h"
#include "ui/model/document/passes.h"
#include "ui/window/compare_actions.h"
#include "ui/window/tape_chooser.h"

#include <glib/gi18n.h>

static TdDocument *
get_document(TdWindow *window) {
  return td_playhead_get_document(td_window_get_playhead(window));
}

TdCompareWindow *
td_window_compare(TdWindow *window, const TdAlignmentWish *wish) {
  TdCompareWindow *other =
      td_compare_window_new(gtk_window_get_application(GTK_WINDOW(window)), wish, NULL, NULL);
  td_compare_actions_install(other);
  gtk_window_present(GTK_WINDOW(other));
  return other;
}

/* ---- at a node ---- */

typedef struct Place {
  uint64_t position;
  uint32_t node;
} Place;

static void
go_there(TdCompareWindow *other, gpointer data) {
  const Place *place = data;
  TdPlayhead *playhead = td_side_by_side_get_playhead(td_compare_window_get_sides(other), 0);
  td_playhead_show_node(playhead, place->position, place->node);
}

static void
place_free(gpointer place, GClosure *closure) {
  g_free(place);
}

void
td_window_compare_at(TdWindow *window, const uint32_t passes[2], uint64_t seq, uint32_t node) {
  TdDocument *document = get_document(window);
  if (!document) return;
  const char *path = td_document_get_path(document);
  const TdAlignmentWish wish = {
      .path = {path, path}, .passes = TRUE, .graph_task = {passes[0], passes[1]}};
  Place *place = g_new0(Place, 1);
  *place = (Place){seq + 1, node};
  g_signal_connect_data(td_window_compare(window, &wish), "ready", G_CALLBACK(go_there), place,
                        place_free, 0);
}

/* ---- another tape ---- */

static void
tape_chosen(GtkWindow *parent, const char *path) {
  TdDocument *document = get_document(TD_WINDOW(parent));
  if (!document) return;
  const TdAlignmentWish wish = {.path = {td_document_get_path(document), path}};
  td_window_compare(TD_WINDOW(parent), &wish);
}

void
td_window_compare_tape(TdWindow *window) {
  td_tape_chooser_show(GTK_WINDOW(window), _("Compare With a Tape"), _("_Compare"), tape_chosen);
}

/* ---- two passes ---- */

typedef struct Question {
  TdWindow *window;       /* (owned) */
  char *path;             /* (owned) of the tape asked about */
  uint32_t *passes;       /* (owned) [n] graph tasks by number */
  GtkSpinButton *spin[2]; /* (borrowed from the dialog) numbers from 1 */
} Question;

static void
question_free(Question *question) {
  g_object_unref(question->window);
  g_free(question->path);
  g_free(question->passes);
  g_free(question);
}

static void
answered(AdwMessageDialog *dialog, const char *response, gpointer data) {
  Question *question = data;
  if (strcmp(response, "compare") == 0) {
    TdAlignmentWish wish = {.path = {question->path, question->path}, .passes = TRUE};
    for (int side = 0; side < 2; side++)
      wish.graph_task[side] =
          question->passes[gtk_spin_button_get_value_as_int(question->spin[side]) - 1];
    td_window_compare(question->window, &wish);
  }
  question_free(question);
}

static GtkSpinButton *
add_number(GtkWidget *grid, int side, const char *title, uint32_t n, uint32_t number) {
  GtkWidget *label = gtk_label_new_with_mnemonic(title);
  GtkWidget *spin = gtk_spin_button_new_with_range(1, n, 1);
  gtk_spin_button_set_value(GTK_SPIN_BUTTON(spin), number);
  gtk_editable_set_width_chars(GTK_EDITABLE(spin), 6);
  gtk_label_set_mnemonic_widget(GTK_LABEL(label), spin);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_widget_set_hexpand(spin, TRUE);
  gtk_text_set_activates_default(GTK_TEXT(gtk_editable_get_delegate(GTK_EDITABLE(spin))), TRUE);
  gtk_grid_attach(GTK_GRID(grid), label, 0, side, 1, 1);
  gtk_grid_attach(GTK_GRID(grid), spin, 1, side, 1, 1);
  return GTK_SPIN_BUTTON(spin);
}

static GtkWidget *
make_numbers(Question *question, uint32_t n, uint32_t number) {
  GtkWidget *grid = gtk_grid_new();
  gtk_grid_set_row_spacing(GTK_GRID(grid), 9);
  gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
  question->spin[0] = add_number(grid, 0, _("Pass on the _left"), n, number);
  question->spin[1] =
      add_number(grid, 1, _("Pass on the _right"), n, number < n ? number + 1 : number - 1);
  return grid;
}

static void
ask(TdWindow *window, TdDocument *document, uint32_t number) {
  uint32_t n;
  Question *question = g_new0(Question, 1);
  question->window = g_object_ref(window);
  question->path = g_strdup(td_document_get_path(document));
  question->passes =
      td_pass_list(td_document_get_whole(document), td_document_get_process(document), &n);
  GtkWidget *dialog =
      adw_message_dialog_new(GTK_WINDOW(window), _("Compare Two Backward Passes"), NULL);
  AdwMessageDialog *message = ADW_MESSAGE_DIALOG(dialog);
  adw_message_dialog_format_body(message, _("The tape has %u of them."), n);
  adw_message_dialog_set_extra_child(message, make_numbers(question, n, number));
  adw_message_dialog_add_responses(message, "cancel", _("_Cancel"), "compare", _("_Compare"), NULL);
  adw_message_dialog_set_response_appearance(message, "compare", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response(message, "compare");
  adw_message_dialog_set_close_response(message, "cancel");
  g_signal_connect(dialog, "response", G_CALLBACK(answered), question);
  gtk_window_present(GTK_WINDOW(dialog));
}

void
td_window_compare_passes(TdWindow *window) {
  TdDocument *document = get_document(window);
  const td_catalog *whole = td_document_get_whole(document);
  uint32_t process = td_document_get_process(document), n;
  uint64_t position = td_playhead_get_position(td_window_get_playhead(window));
  uint32_t pass = td_pass_at(whole, td_document_get_length(document), process, position);
  uint32_t number = td_pass_number(whole, process, pass, &n);
  if (n < 2)
    td_window_say(window, _("The tape has no second backward pass"));
  else
    ask(window, document, CLAMP(number, 1, n));
}
