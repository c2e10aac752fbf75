/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The live half of `tapedeck run` and `tapedeck record`: the options, and a window for each
 * program that someone controls. A window is a process of its own, in a process group of its
 * own. So Ctrl+C in the terminal reaches the program, and the window outlives it. For tests, the
 * environment variable TAPEDECK_WINDOW names a program to start in place of the window. Main
 * thread. */
#pragma once

#include "app/common/announcer.h"
#include "app/session/hub.h"
#include "engine/base/status.h"

#include <glib.h>
#include <stdbool.h>

typedef struct td_live_options {
  gboolean live, listen;
  char **conditions; /* (owned) of --break, or NULL */
  bool is_away;      /* there is no display: no window opens, but one may attach later */
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
      {"listen",                                                                                   \
       0,                                                                                          \
       0,                                                                                          \
       G_OPTION_ARG_NONE,                                                                          \
       &(options).listen,                                                                          \
       "Like --live, but open no window: print the command that opens it on another machine by "   \
       "ssh",                                                                                      \
       NULL},                                                                                      \
  {                                                                                                \
    "break", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(options).conditions,                               \
        "Like --live, but run until: node:N, op:NAME, nan, inf, nonfinite, error, begin, pass:N; " \
        "may be repeated",                                                                         \
        "CONDITION"                                                                                \
  }

/* td_live_has_display tells whether a window can open. td_live_dup_window returns the program to
 * start as the window. Free it. */
bool td_live_has_display(void);
char *td_live_dup_window(void);

/* td_live_options_check checks --break. TD_INVALID. If there is no display, the announcer says so:
 * then the program does not stop before a window attaches. */
td_status td_live_options_check(td_live_options *options, const td_announcer *announcer,
                                td_error *error);

/* td_live_anomaly_mode returns what to look for if the user gave no --anomaly. In a live session
 * that is everything, so that the program can stop at a NaN. NULL otherwise. */
const char *td_live_anomaly_mode(const td_live_options *options);

/* td_live_add_answer adds the members about live control to a `record` line. */
void td_live_add_answer(const td_live_options *options, td_line_text *record);

/* td_live_show opens a window on a target whose tape has begun, if the session is live and there is
 * a display. With --listen the announcer says how to open one elsewhere, and the target waits for
 * that. If the window closes or cannot open, the target runs on, and a window may attach to it
 * later. The announcer lives as long as the window. */
void td_live_show(const td_live_options *options, td_hub_target *target, const char *tape,
                  const td_announcer *announcer);
