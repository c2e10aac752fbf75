/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hides what tells the answer to an open question. Main thread. */
#pragma once

#include "ui/model/lesson/lesson_walk.h"
#include "ui/widgets/graph/graph_canvas.h"

/* All borrowed. A label stands where queues or timeline were. */
typedef struct td_answer_cover {
  TdGraphCanvas *graph;
  GtkWidget *queues, *queues_hidden, *why, *timeline, *timeline_hidden;
} td_answer_cover;

/* td_answer_cover_put hides what tells the answer to this question, and shows the rest. NULL: no
 * question is open. */
void td_answer_cover_put(const td_answer_cover *cover, const td_question *question);
