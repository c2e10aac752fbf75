/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/commands/lesson_page.h"
#include "app/commands/lesson_picture.h"
#include "app/commands/quiz_ask.h"
#include "app/common/lessons.h"
#include "app/print/json_members.h"
#include "ui/model/base/error.h"
#include "ui/model/lesson/lesson_place.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS 79

/* ---- list ---- */

static void
write_lesson(td_json *json, const td_lesson *lesson) {
  td_json_begin_object(json);
  td_member_string(json, "name", lesson->name);
  td_member_string(json, "title", lesson->title);
  td_member_string(json, "about", lesson->about);
  td_member_u64(json, "steps", lesson->steps->len);
  td_member_u64(json, "questions", td_lesson_count_questions(lesson));
  td_json_end_object(json);
}

static int
list(bool as_json) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) lessons = td_lessons_load(NULL, &error);
  if (!lessons) return td_command_fail(NULL, "%s", error->message);
  td_json json;
  td_json_init(&json, stdout);
  if (as_json) td_json_begin_array(&json);
  for (guint i = 0; i < lessons->len; i++) {
    const td_lesson *lesson = lessons->pdata[i];
    if (as_json)
      write_lesson(&json, lesson);
    else
      printf("%2d  %-14s  %s: %s\n", lesson->number, lesson->name, lesson->title, lesson->about);
  }
  if (as_json) td_json_end_array(&json);
  if (as_json) td_json_newline(&json);
  return TD_EXIT_OK;
}

/* ---- on a tape ---- */

/* The replay of a lesson's script. */
static td_replay *
record(const td_lesson *lesson, GError **error) {
  g_autofree char *tape = td_lessons_record(lesson, NULL, NULL, error);
  td_error problem = {0};
  td_replay *replay = NULL;
  if (!tape) return NULL;
  if (td_replay_open(tape, NULL, NULL, &replay, &problem) != TD_OK)
    td_error_propagate(error, &problem);
  return replay;
}

/* ---- run ---- */

/* Words at the end of a line go on in the next one. */
static void
print_wrapped(const char *text) {
  glong column = 0;
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  for (guint i = 0; words[i]; i++) {
    glong length = g_utf8_strlen(words[i], -1);
    bool breaks = column && column + 1 + length > COLUMNS;
    printf("%s%s", breaks ? "\n" : column ? " " : "", words[i]);
    const char *newline = strrchr(words[i], '\n');
    column = newline             ? g_utf8_strlen(newline + 1, -1)
             : breaks || !column ? length
                                 : column + 1 + length;
  }
  putchar('\n');
}

static bool
wait_for_enter(bool is_last) {
  int c;
  if (is_last) return true;
  printf("Enter goes on. ");
  fflush(stdout);
  while ((c = getchar()) != EOF && c != '\n') {
  }
  putchar('\n');
  return c != EOF;
}

static td_asked
show_step(td_replay *replay, const td_lesson_step *step, const td_lesson_stop *stop, bool is_last) {
  td_replay_seek(replay, stop->position, NULL);
  print_wrapped(step->text);
  putchar('\n');
  bool asks_count = stop->asks && stop->question.kind == TD_QUESTION_COUNT;
  td_lesson_picture_print(replay, stop->shown, !asks_count);
  putchar('\n');
  if (!stop->asks) return wait_for_enter(is_last) ? TD_ASKED_RIGHT : TD_ASKED_OVER;
  td_asked asked = td_quiz_ask(replay, &stop->question, step->hint);
  putchar('\n');
  return asked;
}

static void
walk(td_replay *replay, const td_lesson *lesson, const GPtrArray *stops) {
  guint n_right = 0, n_asked = 0;
  printf("Lesson %d: %s\n\n", lesson->number, lesson->title);
  for (guint i = 0; i < stops->len; i++) {
    const td_lesson_stop *stop = stops->pdata[i];
    td_asked asked = show_step(replay, lesson->steps->pdata[i], stop, i + 1 == stops->len);
    if (asked == TD_ASKED_OVER) break;
    n_asked += stop->asks != 0;
    n_right += stop->asks && asked == TD_ASKED_RIGHT;
  }
  printf("\n%u of %u right.\n", n_right, td_lesson_count_questions(lesson));
}

static int
run(const char *name) {
  g_autoptr(GError) error = NULL;
  g_autoptr(td_lesson) lesson = td_lessons_find(name, NULL, &error);
  td_replay *replay = lesson ? record(lesson, &error) : NULL;
  g_autoptr(GPtrArray) stops = replay ? td_lesson_place(lesson, replay, &error) : NULL;
  if (stops) walk(replay, lesson, stops);
  if (replay) td_replay_close(replay);
  return stops ? TD_EXIT_OK : td_command_fail(NULL, "%s", error->message);
}

/* ---- check ---- */

static bool
is_translated(const td_lesson *lesson, GError **error) {
  g_auto(GStrv) languages = g_strsplit(TD_LANGUAGES, "\n", -1);
  for (char **language = languages; *language; language++) {
    g_autofree char *missing = td_lesson_find_untranslated(lesson->path, *language);
    if (!missing) continue;
    g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND, "%s has no [%s]", missing,
                *language);
    return false;
  }
  return true;
}

static bool
check_lesson(const td_lesson *lesson, GError **error) {
  if (!is_translated(lesson, error)) return false;
  td_replay *replay = record(lesson, error);
  if (!replay) return false;
  g_autoptr(GPtrArray) stops = td_lesson_place(lesson, replay, error);
  td_replay_close(replay);
  return stops != NULL;
}

static void
write_result(td_json *json, const td_lesson *lesson, const GError *error) {
  td_json_begin_object(json);
  td_member_string(json, "name", lesson->name);
  td_member_bool(json, "holds", !error);
  td_member_text(json, "problem", error ? error->message : NULL);
  td_json_end_object(json);
}

static int
check_all(const GPtrArray *lessons, bool as_json) {
  int status = TD_EXIT_OK;
  td_json json;
  td_json_init(&json, stdout);
  if (as_json) td_json_begin_array(&json);
  for (guint i = 0; i < lessons->len; i++) {
    const td_lesson *lesson = lessons->pdata[i];
    g_autoptr(GError) error = NULL;
    if (!check_lesson(lesson, &error)) status = TD_EXIT_BAD;
    if (as_json)
      write_result(&json, lesson, error);
    else
      printf("%s: %s\n", lesson->name, error ? error->message : "all of it holds");
  }
  if (as_json) td_json_end_array(&json);
  if (as_json) td_json_newline(&json);
  return status;
}

static int
check(const char *name, bool as_json) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) lessons = NULL;
  if (!name) {
    lessons = td_lessons_load(NULL, &error);
  } else {
    td_lesson *lesson = td_lessons_find(name, NULL, &error);
    lessons = lesson ? g_ptr_array_new_with_free_func((GDestroyNotify)td_lesson_free) : NULL;
    if (lesson) g_ptr_array_add(lessons, lesson);
  }
  return lessons ? check_all(lessons, as_json) : td_command_fail(NULL, "%s", error->message);
}

/* ---- export ---- */

static int
export_page(const char *name, const char *output, bool force) {
  g_autoptr(GError) error = NULL;
  g_autoptr(td_lesson) lesson = td_lessons_find(name, NULL, &error);
  if (!lesson) return td_command_fail(NULL, "%s", error->message);
  g_autofree char *file = output ? g_strdup(output) : g_strconcat(lesson->name, ".html", NULL);
  if (!td_command_may_write(file, lesson->path, force) ||
      !td_command_may_write(file, lesson->script, force))
    return TD_EXIT_USAGE;
  td_replay *replay = record(lesson, &error);
  g_autoptr(GPtrArray) stops = replay ? td_lesson_place(lesson, replay, &error) : NULL;
  int status = stops ? td_lesson_page_write(lesson, stops, replay, file, force)
                     : td_command_fail(NULL, "%s", error->message);
  if (replay) td_replay_close(replay);
  return status;
}

int
td_command_lesson(int argc, char **argv) {
  gboolean as_json = FALSE, force = FALSE;
  g_autofree char *output = NULL;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "With list or check: print one JSON document",
       NULL},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
       "With export: where the page goes (default: NAME.html, here)", "FILE"},
      {"force", 0, 0, G_OPTION_ARG_NONE, &force, "With export: overwrite a file", NULL},
      {0}};
  int status;
  if (!td_command_parse("lesson", entries, false, 1, 2, &argc, &argv, &status)) return status;
  const char *name = argc > 2 ? argv[2] : NULL;
  if (strcmp(argv[1], "export") == 0 && name && !as_json) return export_page(name, output, force);
  if (output || force)
    return td_command_bad_usage("lesson", "%s: only export writes a file",
                                output ? "-o" : "--force");
  if (strcmp(argv[1], "list") == 0 && !name) return list(as_json);
  if (strcmp(argv[1], "run") == 0 && name && !as_json) return run(name);
  if (strcmp(argv[1], "check") == 0) return check(name, as_json);
  return td_command_bad_usage("lesson", "must be list, run NAME, check [NAME] or export NAME");
}
