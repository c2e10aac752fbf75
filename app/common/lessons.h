/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lessons that ship, and the tapes of their scripts. Main thread. */
#pragma once

#include "ui/model/lesson/lesson.h"

#include <gio/gio.h>

/* td_lessons_load returns all lessons in the order of the course, a GPtrArray of td_lesson. NULL
 * with an error that names the file if one cannot be read. `language` is that of td_lesson_load. */
GPtrArray *td_lessons_load(const char *language, GError **error);

/* td_lessons_find returns the lesson of a name. An author may give the path of a lesson file. */
td_lesson *td_lessons_find(const char *name, const char *language, GError **error);

/* td_lessons_record runs a lesson's script on Tapedeck's engine, and waits for it. `scheduler` is a
 * word of `run --scheduler`; NULL is today's. It returns the path of the tape, in the user's cache
 * folder. Free it. Cancelling ends the script. Any thread. */
char *td_lessons_record(const td_lesson *lesson, const char *scheduler, GCancellable *cancellable,
                        GError **error);
