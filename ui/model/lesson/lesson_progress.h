/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How far somebody is in each lesson: one file in the user's data folder. Losing it is harmless.
 * Main thread. */
#pragma once

#include <glib.h>

typedef struct td_lesson_progress {
  guint step;           /* to go on at, from 0 */
  gboolean is_finished; /* at least once */
} td_lesson_progress;

/* td_lesson_progress_read returns zeros for a lesson that nobody has taken. */
td_lesson_progress td_lesson_progress_read(const char *lesson);

/* td_lesson_progress_write keeps it, if it can. */
void td_lesson_progress_write(const char *lesson, const td_lesson_progress *progress);
