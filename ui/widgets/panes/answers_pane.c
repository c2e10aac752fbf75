/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/answers_pane.h"

#include "ui/model/answers/answer_item.h"
#include "ui/model/findings/finding_item.h"
#include "ui/widgets/base/focus.h"
#include "ui/widgets/panes/answer_row.h"

#include <glib/gi18n.h>

/* A longer tape is read for answers when the user asks: it takes some seconds for each 10 million
 * events. */
#define READ_AT_ONCE 2000000

struct _TdAnswersPane {
  AdwBin parent_instance;
  GtkStack *stack;
  AdwStatusPage *none;
  GtkWidget *ask, *again;
  GtkListBox *rows;
  TdPlayhead *playhead;      /* (owned) */
  GListModel *items;         /* (owned) of TdAnswerItem, or NULL */
  GCancellable *cancellable; /* (owned) of the search under way, or NULL */
  char *path;                /* (owned) of the tape that was read, or NULL */
  uint64_t n_events;         /* that it had then */
  gboolean is_leading;
};

G_DEFINE_FINAL_TYPE(TdAnswersPane, td_answers_pane, ADW_TYPE_BIN)

static void
say(TdAnswersPane *self, const char *title, const char *description, gboolean may_ask) {
  adw_status_page_set_title(self->none, title);
  adw_status_page_set_description(self->none, description);
  gtk_widget_set_visible(self->ask, may_ask);
  gtk_stack_set_visible_child_name(self->stack, "none");
}

/* ---- rows ---- */

/* What has more of a topic: the label of a button, and its action. */
static const struct {
  const char *label, *action;
} mores[TD_N_ANSWER_TOPICS] = {
    [TD_ANSWER_wrong] = {N_("Findings"), "win.findings"},
    [TD_ANSWER_time] = {N_("Profile"), "win.profile"},
    [TD_ANSWER_waits] = {N_("Contention"), "win.contention"},
    [TD_ANSWER_memory] = {N_("Memory"), "win.memory"},
    [TD_ANSWER_unlooked] = {N_("Record Again…"), "win.record-again"},
};

static GtkWidget *
make_more(TdAnswersPane *self, td_answer_topic topic) {
  GtkWidget *button = gtk_button_new_with_label(_(mores[topic].label));
  gtk_actionable_set_action_name(GTK_ACTIONABLE(button), mores[topic].action);
  gtk_widget_add_css_class(button, "flat");
  gtk_widget_add_css_class(button, "caption");
  TdDocument *document = td_playhead_get_document(self->playhead);
  bool has_more =
      topic != TD_ANSWER_unlooked || (document && td_finding_can_look_further(document));
  gtk_widget_set_visible(button, has_more);
  return button;
}

static GtkWidget *
make_header(TdAnswersPane *self, TdAnswerItem *first) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *title = gtk_label_new(td_answer_item_get_title(first));
  gtk_widget_add_css_class(title, "heading");
  gtk_widget_set_hexpand(title, TRUE);
  gtk_label_set_xalign(GTK_LABEL(title), 0);
  gtk_widget_add_css_class(box, "answer-topic");
  gtk_box_append(GTK_BOX(box), title);
  gtk_box_append(GTK_BOX(box), make_more(self, td_answer_item_get_topic(first)));
  return box;
}

static void
update_header(GtkListBoxRow *row, GtkListBoxRow *before, gpointer data) {
  TdAnswerItem *item = td_answer_row_get_item(TD_ANSWER_ROW(row));
  TdAnswerItem *last = before ? td_answer_row_get_item(TD_ANSWER_ROW(before)) : NULL;
  bool begins = !last || td_answer_item_get_topic(last) != td_answer_item_get_topic(item);
  gtk_list_box_row_set_header(row, begins ? make_header(data, item) : NULL);
}

static GtkWidget *
make_row(gpointer item, gpointer data) {
  return td_answer_row_new(item);
}

static void
row_activated(GtkListBox *rows, GtkListBoxRow *row, gpointer data) {
  TdAnswersPane *self = data;
  TdAnswerItem *item = td_answer_row_get_item(TD_ANSWER_ROW(row));
  self->is_leading = TRUE;
  td_answer_row_go(item, self->playhead);
  self->is_leading = FALSE;
}

/* ---- looking ---- */

static void
found(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdAnswersPane) self = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GListModel) items = td_answer_items_finish(result, &error);
  if (g_task_get_cancellable(G_TASK(result)) != self->cancellable) return;
  g_clear_object(&self->cancellable);
  if (!items) {
    say(self, _("The Tape Cannot Be Searched"), error->message, FALSE);
    return;
  }
  g_set_object(&self->items, items);
  gtk_list_box_bind_model(self->rows, items, make_row, NULL, NULL);
  gtk_stack_set_visible_child_name(self->stack, "rows");
}

static void
stop(TdAnswersPane *self) {
  if (self->cancellable) g_cancellable_cancel(self->cancellable);
  g_clear_object(&self->cancellable);
}

static void
look(TdAnswersPane *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  stop(self);
  say(self, _("Looking for Answers…"), NULL, FALSE);
  gtk_widget_set_visible(self->again, FALSE);
  g_free(self->path);
  self->path = g_strdup(td_document_get_path(document));
  self->n_events = td_document_get_info(document)->n_events;
  self->cancellable = g_cancellable_new();
  td_answer_items_async(document, self->cancellable, found, g_object_ref(self));
}

gboolean
td_answers_pane_is_busy(TdAnswersPane *self) {
  return self->cancellable && gtk_widget_get_mapped(GTK_WIDGET(self));
}

gboolean
td_answers_pane_is_leading(TdAnswersPane *self) {
  return self->is_leading;
}

GListModel *
td_answers_pane_get_items(TdAnswersPane *self) {
  return self->items;
}

static void
forget(TdAnswersPane *self) {
  stop(self);
  g_clear_pointer(&self->path, g_free);
  g_clear_object(&self->items);
  td_focus_drop(GTK_WIDGET(self->rows));
  gtk_list_box_bind_model(self->rows, NULL, NULL, NULL, NULL);
}

/* Another segment of the same tape has the same answers. The tape of a live program grows: the user
 * says when to look again. */
static void
document_changed(TdAnswersPane *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (document && g_strcmp0(self->path, td_document_get_path(document)) == 0) {
    gboolean has_grown = td_document_get_info(document)->n_events != self->n_events;
    gtk_widget_set_visible(self->again, has_grown);
    return;
  }
  forget(self);
  if (!document) return;
  if (td_document_get_info(document)->n_events <= READ_AT_ONCE)
    look(self);
  else
    say(self, _("A Long Tape"), _("To look for answers takes some seconds."), TRUE);
}

/* ---- the widget ---- */

void
td_answers_pane_set_playhead(TdAnswersPane *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
}

static void
td_answers_pane_dispose(GObject *object) {
  TdAnswersPane *self = TD_ANSWERS_PANE(object);
  stop(self);
  if (self->playhead) gtk_list_box_set_header_func(self->rows, NULL, NULL, NULL);
  g_clear_pointer(&self->path, g_free);
  g_clear_object(&self->items);
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_answers_pane_parent_class)->dispose(object);
}

static void
td_answers_pane_class_init(TdAnswersPaneClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_answers_pane_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/answers_pane.ui");
  gtk_widget_class_bind_template_child(widget_class, TdAnswersPane, stack);
  gtk_widget_class_bind_template_child(widget_class, TdAnswersPane, none);
  gtk_widget_class_bind_template_child(widget_class, TdAnswersPane, ask);
  gtk_widget_class_bind_template_child(widget_class, TdAnswersPane, again);
  gtk_widget_class_bind_template_child(widget_class, TdAnswersPane, rows);
  gtk_widget_class_bind_template_callback(widget_class, look);
}

static void
td_answers_pane_init(TdAnswersPane *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  gtk_list_box_set_header_func(self->rows, update_header, self, NULL);
  g_signal_connect(self->rows, "row-activated", G_CALLBACK(row_activated), self);
}
