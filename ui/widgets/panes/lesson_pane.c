/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/lesson_pane.h"

#include "ui/widgets/panes/answer_list.h"

#include <glib/gi18n.h>

struct _TdLessonPane {
  GtkBox parent_instance;
  GtkLabel *title, *progress, *text, *prompt, *facts, *hint, *verdict, *reason, *score;
  TdAnswerList *answer;
  GtkWidget *script, *own, *question_box, *back, *hint_button, *tell, *next;
  GtkScrolledWindow *scroller;
  gboolean follows_answer; /* the person has just answered: what is said to it stays in sight */
  guint scrolling;         /* id of a source, or 0 */
  TdLessonWalk *walk;      /* (owned) or NULL */
  guint step;              /* that is shown */
};

G_DEFINE_FINAL_TYPE(TdLessonPane, td_lesson_pane, GTK_TYPE_BOX)

static guint leave_signal;

static void
set_text(GtkLabel *label, char *text) {
  gtk_label_set_text(label, text ? text : "");
  gtk_widget_set_visible(GTK_WIDGET(label), text && *text);
  g_free(text);
}

/* ---- what is shown ---- */

static void
set_class(GtkLabel *label, const char *name, gboolean has_it) {
  if (has_it)
    gtk_widget_add_css_class(GTK_WIDGET(label), name);
  else
    gtk_widget_remove_css_class(GTK_WIDGET(label), name);
}

static void
show_answer(TdLessonPane *self) {
  gboolean is_answered = td_lesson_walk_is_answered(self->walk);
  set_text(self->verdict, is_answered ? td_lesson_walk_dup_verdict(self->walk) : NULL);
  set_text(self->reason, is_answered ? td_lesson_walk_dup_reason(self->walk) : NULL);
  set_class(self->verdict, "success", td_lesson_walk_was_right(self->walk));
  set_class(self->verdict, "error", td_lesson_walk_was_wrong(self->walk));
  gtk_widget_set_sensitive(GTK_WIDGET(self->answer), !is_answered);
}

static void
show_question(TdLessonPane *self) {
  const td_question *question = td_lesson_walk_get_question(self->walk);
  gtk_widget_set_visible(self->question_box, question != NULL);
  set_text(self->hint, NULL);
  set_text(self->verdict, NULL);
  set_text(self->reason, NULL);
  td_answer_list_set_question(self->answer, self->walk);
  if (!question) return;
  set_text(self->prompt, td_lesson_walk_dup_prompt(self->walk));
  set_text(self->facts, td_lesson_walk_dup_facts(self->walk));
  show_answer(self);
}

/* Next answers first, if somebody has chosen an answer. */
static void
show_buttons(TdLessonPane *self) {
  const td_question *question = td_lesson_walk_get_question(self->walk);
  gboolean asks = question && !td_lesson_walk_is_answered(self->walk);
  gboolean can_answer = asks && td_answer_list_is_complete(self->answer);
  guint step = td_lesson_walk_get_step(self->walk), n = td_lesson_walk_get_n_steps(self->walk);
  gtk_widget_set_sensitive(self->back, step > 0);
  gtk_widget_set_visible(self->hint_button, asks && td_lesson_walk_get_hint(self->walk));
  gtk_widget_set_visible(self->tell, asks);
  gtk_button_set_label(GTK_BUTTON(self->next), asks           ? _("Answer")
                                               : step + 1 < n ? _("Next")
                                                              : _("Finish"));
  gtk_widget_set_sensitive(self->next, !asks || can_answer);
}

static void
show_head(TdLessonPane *self) {
  guint step = td_lesson_walk_get_step(self->walk), n = td_lesson_walk_get_n_steps(self->walk);
  set_text(self->title, g_strdup(td_lesson_walk_get_title(self->walk)));
  set_text(self->progress, g_strdup_printf(_("%u of %u"), step + 1, n));
  set_text(self->text, g_strdup(td_lesson_walk_get_text(self->walk)));
  set_text(self->score, td_lesson_walk_dup_score(self->walk));
  gtk_widget_set_visible(self->script, td_lesson_walk_get_name(self->walk) != NULL);
  gtk_widget_set_visible(self->own, td_lesson_walk_is_own(self->walk));
}

static void
scroll_to_top(TdLessonPane *self) {
  self->follows_answer = FALSE;
  gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(self->scroller), 0);
}

static gboolean
scroll_to_end(gpointer data) {
  TdLessonPane *self = data;
  GtkAdjustment *scroll = gtk_scrolled_window_get_vadjustment(self->scroller);
  self->scrolling = 0;
  gtk_adjustment_set_value(scroll,
                           gtk_adjustment_get_upper(scroll) - gtk_adjustment_get_page_size(scroll));
  return G_SOURCE_REMOVE;
}

/* The verdict has its room only later. In a low window it is below what is in sight. GTK tells in
 * the middle of giving room, when it does not scroll. */
static void
grown(TdLessonPane *self) {
  if (self->follows_answer && !self->scrolling) self->scrolling = g_idle_add(scroll_to_end, self);
}

static void
changed(TdLessonPane *self) {
  guint step = td_lesson_walk_get_step(self->walk);
  show_head(self);
  if (step != self->step) {
    show_question(self);
    scroll_to_top(self);
  } else if (td_lesson_walk_get_question(self->walk)) {
    self->follows_answer = td_lesson_walk_is_answered(self->walk);
    show_answer(self);
  }
  self->step = step;
  show_buttons(self);
}

void
td_lesson_pane_set_walk(TdLessonPane *self, TdLessonWalk *walk) {
  if (self->walk) g_signal_handlers_disconnect_by_data(self->walk, self);
  g_set_object(&self->walk, walk);
  gtk_widget_set_visible(GTK_WIDGET(self), walk != NULL);
  self->step = G_MAXUINT;
  if (!walk) return;
  g_signal_connect_object(walk, "changed", G_CALLBACK(changed), self, G_CONNECT_SWAPPED);
  changed(self);
}

TdLessonWalk *
td_lesson_pane_get_walk(TdLessonPane *self) {
  return self->walk;
}

/* ---- what the person does ---- */

static void
give_answer(TdLessonPane *self) {
  guint64 values[TD_QUESTION_CHOICES];
  guint n = td_answer_list_get(self->answer, values);
  if (n) td_lesson_walk_answer(self->walk, values, n);
}

static void
leave(TdLessonPane *self) {
  g_signal_emit(self, leave_signal, 0);
}

void
td_lesson_pane_go_on(TdLessonPane *self) {
  if (!self->walk) return;
  gboolean asks =
      td_lesson_walk_get_question(self->walk) && !td_lesson_walk_is_answered(self->walk);
  if (asks)
    give_answer(self);
  else if (td_lesson_walk_get_step(self->walk) + 1 < td_lesson_walk_get_n_steps(self->walk))
    td_lesson_walk_go(self->walk, 1);
  else
    leave(self);
}

static void
go_back(TdLessonPane *self) {
  td_lesson_walk_go(self->walk, -1);
}

static void
tell_answer(TdLessonPane *self) {
  td_lesson_walk_answer(self->walk, NULL, 0);
}

static void
show_hint(TdLessonPane *self) {
  set_text(self->hint, g_strdup(td_lesson_walk_get_hint(self->walk)));
  gtk_widget_set_visible(self->hint_button, FALSE);
}

void
td_lesson_pane_choose_node(TdLessonPane *self, uint32_t node) {
  if (self->walk && !td_lesson_walk_is_answered(self->walk))
    td_answer_list_choose_node(self->answer, node);
}

static void
tape_changed(TdLessonPane *self) {
  if (self->walk && !td_lesson_walk_goes_on(self->walk)) leave(self);
}

void
td_lesson_pane_set_playhead(TdLessonPane *self, TdPlayhead *playhead) {
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(tape_changed), self,
                          G_CONNECT_SWAPPED);
}

void
td_lesson_pane_set_large(TdLessonPane *self, gboolean large) {
  GtkLabel *const labels[] = {self->text, self->prompt,  self->facts,
                              self->hint, self->verdict, self->reason};
  for (guint i = 0; i < G_N_ELEMENTS(labels); i++) /* one can select in has a pointer of its own */
    gtk_label_set_selectable(labels[i], !large);
  if (large)
    gtk_widget_add_css_class(GTK_WIDGET(self), "lecture");
  else
    gtk_widget_remove_css_class(GTK_WIDGET(self), "lecture");
}

static void
td_lesson_pane_dispose(GObject *object) {
  TdLessonPane *self = TD_LESSON_PANE(object);
  self->follows_answer = FALSE;
  g_clear_handle_id(&self->scrolling, g_source_remove);
  g_clear_object(&self->walk);
  G_OBJECT_CLASS(td_lesson_pane_parent_class)->dispose(object);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdLessonPane, child)

static void
td_lesson_pane_class_init(TdLessonPaneClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_lesson_pane_dispose;
  leave_signal = g_signal_new("leave", TD_TYPE_LESSON_PANE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                              G_TYPE_NONE, 0);
  g_type_ensure(TD_TYPE_ANSWER_LIST);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/lesson_pane.ui");
  BIND(title);
  BIND(progress);
  BIND(text);
  BIND(prompt);
  BIND(facts);
  BIND(hint);
  BIND(verdict);
  BIND(reason);
  BIND(score);
  BIND(answer);
  BIND(script);
  BIND(own);
  BIND(question_box);
  BIND(back);
  BIND(hint_button);
  BIND(tell);
  BIND(next);
  BIND(scroller);
  gtk_widget_class_bind_template_callback(widget_class, leave);
  gtk_widget_class_bind_template_callback(widget_class, go_back);
  gtk_widget_class_bind_template_callback(widget_class, tell_answer);
  gtk_widget_class_bind_template_callback(widget_class, show_hint);
  gtk_widget_class_bind_template_callback(widget_class, show_buttons);
  gtk_widget_class_bind_template_callback(widget_class, td_lesson_pane_go_on);
}

static void
td_lesson_pane_init(TdLessonPane *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_signal_connect_object(gtk_scrolled_window_get_vadjustment(self->scroller), "changed",
                          G_CALLBACK(grown), self, G_CONNECT_SWAPPED);
}
