/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/lesson_page.h"

#include "app/command.h"
#include "app/common/fonts.h"
#include "app/common/moment.h"
#include "app/common/output_file.h"
#include "ui/model/lesson/lesson_place.h"
#include "ui/page/page.h"

#include <errno.h>
#include <stdio.h>

/* The steps as the page wants them. Free the array. */
static td_page_step *
make_steps(const td_lesson *lesson, const GPtrArray *stops) {
  td_page_step *steps = g_new0(td_page_step, stops->len);
  for (guint i = 0; i < stops->len; i++) {
    const td_lesson_step *step = lesson->steps->pdata[i];
    const td_lesson_stop *stop = stops->pdata[i];
    steps[i] = (td_page_step){.text = step->text,
                              .hint = step->hint,
                              .position = stop->position,
                              .shown = (const uint32_t *)(const void *)stop->shown->data,
                              .n_shown = stop->shown->len,
                              .question = stop->asks ? &stop->question : NULL};
  }
  return steps;
}

static td_status
write_page(const td_lesson *lesson, const GPtrArray *stops, td_replay *replay, FILE *out,
           td_error *error) {
  uint32_t pass = td_moment_largest_pass(td_replay_catalog(replay), true);
  if (pass == TD_NONE) return td_error_set(error, TD_OUT_OF_RANGE, "the tape has no backward pass");
  g_autofree char *title = g_strdup_printf("Lesson %d: %s", lesson->number, lesson->title);
  g_autofree td_page_step *steps = make_steps(lesson, stops);
  const td_page_lesson page = {title, steps, stops->len};
  td_fonts_find();
  return td_page_write(replay, pass, &page, TD_VERSION, out, error);
}

int
td_lesson_page_write(const td_lesson *lesson, const GPtrArray *stops, td_replay *replay,
                     const char *path, bool force) {
  td_output_file output;
  td_error error = {0};
  td_output_file_begin(&output, path);
  FILE *out = fopen(output.part, "we");
  td_status status = out ? write_page(lesson, stops, replay, out, &error) : TD_OK;
  bool is_whole = out && !ferror(out);
  int problem = errno;
  if (out && fclose(out) != 0) {
    is_whole = false;
    problem = errno;
  }
  if (!status && is_whole) {
    if (td_output_file_keep(&output, force)) return TD_EXIT_OK;
    return td_command_fail(path, "%s", g_strerror(errno));
  }
  td_output_file_drop(&output);
  if (status) return td_command_file_error(lesson->path, &error);
  return td_command_fail(path, "%s", g_strerror(problem ? problem : EIO));
}
