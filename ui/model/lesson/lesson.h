/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A lesson: a script, and steps through the tape of its backward pass. Values; any thread.
 *
 * Note [Lesson files]
 * A lesson is a key file (as .desktop files are), resources/lessons/<name>.lesson, with the script
 * <name>.py beside it. People read its texts in their language: each text has translations, such as
 * text[zh_CN].
 *
 *   [Lesson]
 *   number=2                       its place in the course.
 *   title=Dependency counts
 *   about=...                      one sentence for the list.
 *   run=--stats;full               options of `tapedeck run`; may be left out.
 *
 *   [Step join]                    one group for each step, in their order.
 *   text=...                       what people read.
 *   at=dependency_dec MulBackward0/1
 *   show=MulBackward0/1            nodes to highlight, apart by ;
 *   ask=count MulBackward0/1       a question; may be left out.
 *   hint=...                       for whom the question is too hard; may be left out.
 *   claims=count MulBackward0/1 = 1; state SinBackward0 = done
 *
 * A step is at the next moment that fits, never at a number. A place is one of these:
 *   start, end                     of the tape.
 *   CONDITION                      as in engine/control/condition.def, after its event.
 *   EVENT [NODE]                   after an event of events.def, about that node.
 *   before CONDITION or EVENT      the moment before it.
 * Without `at` a step stays where the one before is.
 *
 * A node is written as people call it, such as MulBackward0 or AccumulateGrad(w), with * and ? as
 * wildcards. If several nodes fit, /2 is the second one that the program created.
 *
 * Answers come from the tape (engine/profile/quiz/question.h), never from the file. Whatever else a
 * text says is a claim, so that a lesson cannot say what is false: ui/model/lesson/lesson_claims.h.
 */
#pragma once

#include <glib.h>

typedef struct td_lesson_step {
  char *name;       /* (owned) "join" */
  char *text;       /* (owned) */
  char *at;         /* (owned) or NULL */
  char *ask, *hint; /* (owned) or NULL */
  char **show;      /* (owned) nodes; may be empty */
  char **claims;    /* (owned) may be empty */
} td_lesson_step;

typedef struct td_lesson {
  char *name, *title, *about; /* (owned) */
  char *path, *script;        /* (owned) of the lesson's file, and of its script */
  char **run;                 /* (owned) options; may be empty */
  int number;
  GPtrArray *steps; /* (owned) of td_lesson_step */
} td_lesson;

/* td_lesson_load reads a lesson. `language` is such as "zh_CN"; NULL is English. A group or key
 * that it does not know is an error, and so is a text that is missing. */
td_lesson *td_lesson_load(const char *path, const char *language, GError **error);
void td_lesson_free(td_lesson *lesson);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(td_lesson, td_lesson_free)

guint td_lesson_count_questions(const td_lesson *lesson);

/* td_lesson_find_untranslated returns a text that has no translation into a language, as
 * "[Step join] text", or NULL if all have one. Free it. */
char *td_lesson_find_untranslated(const char *path, const char *language);
