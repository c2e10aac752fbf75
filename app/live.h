/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The live half of `tapedeck run` and `tapedeck record`: the options, and a window for each program
 * that is controlled. A window is a process of its own, in a process group of its own: Ctrl+C in
 * the terminal is for the program, and the window outlives it. TAPEDECK_WINDOW in the environment
 * names a program to start in the window's place, for tests. Main thread. */
#pragma once

#include "app/hub.h"

#include <glib.h>
#include <stdbool.h>

typedef struct td_live_options {
  gboolean live;
  char **conditions; /* (owned) of --break, or NULL */
} td_live_options;

void td_live_options_clear(td_live_options *options);

/* The entries of --live and --break for a command's table of options. */
#define TD_LIVE_ENTRIES(options)                                                                   \
  {"live",                                                                                         \
   0,                                                                                              \
   0,                                                                                              \
   G_OPTION_ARG_NONE,                                                                              \
   &(options).live,                                                                                \
   "Open the window on the program, stopped at its first event",                                   \
   NULL},                                                                                          \
  {                                                                                                \
    "break", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(options).conditions,                               \
        "Like --live, but run until: node:N, op:NAME, nan, nonfinite, error, begin; may be "       \
        "repeated",                                                                                \
        "CONDITION"                                                                                \
  }

/* td_live_options_check says what is wrong with --break and returns false. Where there is no
 * display it says so, and nothing is live. */
bool td_live_options_check(const char *command, td_live_options *options);

/* td_live_anomaly_mode returns what is looked for where --anomaly does not say: everything in a
 * live program, so that it can be stopped at a NaN; NULL otherwise. */
const char *td_live_anomaly_mode(const td_live_options *options);

/* td_live_add_answer adds what a `record` line says of live control. */
void td_live_add_answer(const td_live_options *options, td_line_text *record);

/* td_live_show opens a window on a target whose tape has begun. When the window is closed, or
 * cannot open, the target is released. */
void td_live_show(td_hub_target *target, const char *tape);
