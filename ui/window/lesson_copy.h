/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A learner's own copy of a lesson's script, in the user's data folder. Any thread. */
#pragma once

#include <glib.h>

/* td_lesson_copy_find returns the path of the copy, or NULL if there is none. Free it. */
char *td_lesson_copy_find(const char *name);

/* td_lesson_copy_make copies the script, unless there is a copy. It returns the path. Free it. */
char *td_lesson_copy_make(const char *name, GError **error);

/* td_lesson_copy_remove forgets the copy. */
void td_lesson_copy_remove(const char *name);
