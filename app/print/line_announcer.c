/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/line_announcer.h"

#include "app/common/terminal.h"

#include <stdio.h>
#include <unistd.h>

#define CLEAR_LINE "\r\033[K"

/* Whether a count of seconds stands on the terminal. There is one at a time. */
static gint is_counting;

static void
say_cb(const char *text, void *data) {
  fprintf(stderr, "tapedeck: %s\n", text);
}

static void
begin_cb(const char *text, void *data) {
  say_cb(text, data);
  g_atomic_int_set(&is_counting, isatty(STDERR_FILENO));
}

/* The count has a short line of its own: a line that wraps cannot be written over. */
static void
count_cb(int seconds, void *data) {
  if (seconds <= 0 || !g_atomic_int_get(&is_counting)) return;
  td_terminal_control("\r");
  fprintf(stderr, "%d s ", seconds);
}

static void
end_cb(void *data) {
  if (g_atomic_int_compare_and_exchange(&is_counting, 1, 0)) td_terminal_control(CLEAR_LINE);
}

const td_announcer *
td_line_announcer_get(void) {
  static const td_announcer lines = {say_cb, begin_cb, count_cb, end_cb, NULL};
  return &lines;
}
