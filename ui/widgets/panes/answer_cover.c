/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/answer_cover.h"

/* The queues show what is popped next, and the timeline what runs next. The sentence above the
 * queues says who still waits. */
void
td_answer_cover_put(const td_answer_cover *cover, const td_question *question) {
  gboolean asks_order =
      question && (question->kind == TD_QUESTION_POP || question->kind == TD_QUESTION_ORDER ||
                   question->kind == TD_QUESTION_POLICY);
  gboolean asks_count = question && question->kind == TD_QUESTION_COUNT;
  gtk_widget_set_visible(cover->queues, !asks_order);
  gtk_widget_set_visible(cover->queues_hidden, asks_order);
  gtk_widget_set_visible(cover->why, !question);
  gtk_widget_set_opacity(cover->timeline, question ? 0 : 1);
  gtk_widget_set_sensitive(cover->timeline, !question);
  gtk_widget_set_visible(cover->timeline_hidden, question != NULL);
  td_graph_canvas_set_hides_counts(cover->graph, asks_count);
  gtk_widget_set_has_tooltip(GTK_WIDGET(cover->graph), !asks_count);
}
