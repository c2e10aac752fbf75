/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A lesson on a page: its steps, and its questions with all that the page says to an answer. The
 * page computes no answer by itself. One thread. */
#pragma once

#include "engine/base/json.h"
#include "engine/profile/quiz/question.h"
#include "ui/page/nodes.h"

/* All pointers are borrowed. */
typedef struct td_page_step {
  const char *text, *hint; /* hint: or NULL */
  uint64_t position;       /* where the replay stands for it */
  const uint32_t *shown;   /* [n_shown] nodes to mark */
  size_t n_shown;
  const td_question *question; /* or NULL */
} td_page_step;

typedef struct td_page_lesson {
  const char *title;
  const td_page_step *steps; /* [n_steps] */
  size_t n_steps;
} td_page_lesson;

/* td_page_lesson_write writes the object of a lesson. Positions of the page count from event
 * `first`. The replay stays where it is. */
void td_page_lesson_write(const td_page_lesson *lesson, td_replay *replay,
                          const td_page_nodes *nodes, uint64_t first, td_json *json);
