/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which training steps `tapedeck record` records: the options, and what a target hears of them.
 * Main thread. */
#pragma once

#include "engine/base/status.h"
#include "engine/control/line.h"

#include <glib.h>

typedef struct td_steps_choice {
  char *steps, *every, *first, *until; /* (owned) as the user gave them, or NULL */
  char *words;                         /* (owned) all of them, or NULL if everything is wanted */
  guint32 from, to, n;                 /* from <= step < to, each n-th */
} td_steps_choice;

void td_steps_choice_clear(td_steps_choice *choice);

/* The entries of --steps, --every, --first and --until for a command's table of options. */
#define TD_STEPS_ENTRIES(choice)                                                                   \
  {"steps",                                                                                        \
   0,                                                                                              \
   0,                                                                                              \
   G_OPTION_ARG_STRING,                                                                            \
   &(choice).steps,                                                                                \
   "Record only these training steps, counted from 0; TO is not one of them",                      \
   "FROM:TO"},                                                                                     \
      {"every", 0, 0, G_OPTION_ARG_STRING, &(choice).every, "Record only each N-th of the steps",  \
       "N"},                                                                                       \
      {"first", 0, 0, G_OPTION_ARG_STRING, &(choice).first, "Record only the first N steps", "N"}, \
  {                                                                                                \
    "until", 0, 0, G_OPTION_ARG_STRING, &(choice).until,                                           \
        "nan: record until the first NaN is born, and the rest of its step", "nan"                 \
  }

/* td_steps_choice_check reads the options. TD_INVALID if one is wrong. */
td_status td_steps_choice_check(td_steps_choice *choice, td_error *error);

/* td_steps_choice_add_answer adds the choice to a `record` line. */
void td_steps_choice_add_answer(const td_steps_choice *choice, td_line_text *record);
