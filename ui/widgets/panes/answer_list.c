/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/answer_list.h"

#include "ui/widgets/base/focus.h"

#include <glib/gi18n.h>

struct _TdAnswerList {
  AdwBin parent_instance;
  GtkListBox *rows;
  GtkEditable *entry;
  TdLessonWalk *walk;                /* (owned) or NULL */
  guint chosen[TD_QUESTION_CHOICES]; /* choices, in the order in which they were chosen */
  guint n_chosen;
};

G_DEFINE_FINAL_TYPE(TdAnswerList, td_answer_list, ADW_TYPE_BIN)

static guint changed_signal;

static const td_question *
question_of(TdAnswerList *self) {
  return self->walk ? td_lesson_walk_get_question(self->walk) : NULL;
}

/* ---- choices ---- */

/* From 1; 0: not chosen. */
static guint
place_of(TdAnswerList *self, guint choice) {
  for (guint i = 0; i < self->n_chosen; i++)
    if (self->chosen[i] == choice) return i + 1;
  return 0;
}

static void
show_row(TdAnswerList *self, guint choice) {
  GtkListBoxRow *row = gtk_list_box_get_row_at_index(self->rows, (int)choice);
  GtkWidget *badge = gtk_widget_get_first_child(gtk_list_box_row_get_child(row));
  GtkWidget *label = gtk_widget_get_next_sibling(badge);
  guint place = place_of(self, choice);
  gboolean is_order = td_lesson_walk_get_form(self->walk) == TD_ANSWER_order;
  g_autofree char *number = g_strdup_printf("%u", place);
  g_autofree char *spoken = g_strdup_printf(is_order ? _("%s, place %u") : _("%s, chosen"),
                                            gtk_label_get_text(GTK_LABEL(label)), place);
  gtk_label_set_text(GTK_LABEL(badge), !place ? "" : is_order ? number : "✓");
  gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 place ? spoken : gtk_label_get_text(GTK_LABEL(label)), -1);
}

static void
show_rows(TdAnswerList *self) {
  for (guint i = 0; i < question_of(self)->n_choices; i++)
    show_row(self, i);
  g_signal_emit(self, changed_signal, 0);
}

static void
choose(TdAnswerList *self, guint choice) {
  guint place = place_of(self, choice);
  if (td_lesson_walk_get_form(self->walk) == TD_ANSWER_one) {
    self->chosen[0] = choice;
    self->n_chosen = 1;
  } else if (place) { /* it, and what was put after it */
    self->n_chosen = place - 1;
  } else {
    self->chosen[self->n_chosen++] = choice;
  }
  show_rows(self);
}

static void
activated(TdAnswerList *self, GtkListBoxRow *row) {
  choose(self, (guint)gtk_list_box_row_get_index(row));
}

void
td_answer_list_choose_node(TdAnswerList *self, uint32_t node) {
  const td_question *question = question_of(self);
  if (!question || (question->kind != TD_QUESTION_POP && question->kind != TD_QUESTION_ORDER))
    return;
  for (guint i = 0; i < question->n_choices; i++)
    if (question->choices[i] == node && !place_of(self, i)) choose(self, i);
}

static GtkWidget *
row_new(const char *text) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *badge = gtk_label_new(""), *label = gtk_label_new(text);
  gtk_label_set_width_chars(GTK_LABEL(badge), 2);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_max_width_chars(GTK_LABEL(label), 30);
  gtk_widget_set_hexpand(label, TRUE);
  gtk_box_append(GTK_BOX(box), badge);
  gtk_box_append(GTK_BOX(box), label);
  return box;
}

static void
fill_rows(TdAnswerList *self) {
  GtkListBoxRow *row;
  td_focus_drop(GTK_WIDGET(self->rows));
  while ((row = gtk_list_box_get_row_at_index(self->rows, 0)))
    gtk_list_box_remove(self->rows, GTK_WIDGET(row));
  for (guint i = 0; question_of(self) && i < question_of(self)->n_choices; i++) {
    g_autofree char *text = td_lesson_walk_dup_choice(self->walk, i);
    gtk_list_box_append(self->rows, row_new(text));
  }
}

/* ---- the answer ---- */

guint
td_answer_list_get(TdAnswerList *self, guint64 values[TD_QUESTION_CHOICES]) {
  const td_question *question = question_of(self);
  if (!question) return 0;
  if (td_lesson_walk_get_form(self->walk) > TD_ANSWER_order)
    return td_lesson_walk_read(self->walk, gtk_editable_get_text(self->entry), values) ? 1 : 0;
  guint wanted = td_lesson_walk_get_form(self->walk) == TD_ANSWER_one ? 1 : question->n_choices;
  for (guint i = 0; i < self->n_chosen; i++)
    values[i] = question->choices[self->chosen[i]];
  return self->n_chosen == wanted ? wanted : 0;
}

gboolean
td_answer_list_is_complete(TdAnswerList *self) {
  guint64 values[TD_QUESTION_CHOICES];
  return td_answer_list_get(self, values) > 0;
}

void
td_answer_list_set_question(TdAnswerList *self, TdLessonWalk *walk) {
  g_set_object(&self->walk, walk);
  self->n_chosen = 0;
  gboolean has_entry = question_of(self) && td_lesson_walk_get_form(self->walk) > TD_ANSWER_order;
  gtk_editable_set_text(self->entry, "");
  fill_rows(self);
  gtk_widget_set_visible(GTK_WIDGET(self->entry), has_entry);
  gtk_widget_set_visible(GTK_WIDGET(self->rows), question_of(self) && !has_entry);
  if (question_of(self)) show_rows(self);
}

static void
typed(TdAnswerList *self) {
  g_signal_emit(self, changed_signal, 0);
}

static void
td_answer_list_dispose(GObject *object) {
  g_clear_object(&TD_ANSWER_LIST(object)->walk);
  G_OBJECT_CLASS(td_answer_list_parent_class)->dispose(object);
}

static void
td_answer_list_class_init(TdAnswerListClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_answer_list_dispose;
  changed_signal = g_signal_new("changed", TD_TYPE_ANSWER_LIST, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/answer_list.ui");
  gtk_widget_class_bind_template_child(widget_class, TdAnswerList, rows);
  gtk_widget_class_bind_template_child(widget_class, TdAnswerList, entry);
  gtk_widget_class_bind_template_callback(widget_class, activated);
  gtk_widget_class_bind_template_callback(widget_class, typed);
}

static void
td_answer_list_init(TdAnswerList *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
}
