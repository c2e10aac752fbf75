/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the flight recorder keeps: `tapedeck record --keep`. Main thread. */
#pragma once

#include "engine/control/line.h"
#include "engine/trace/keeper.h"

#include <glib.h>

typedef struct td_keep_choice {
  char *keep, *dump_every; /* (owned) as the user gave them, or NULL */
  char *words;             /* (owned) "--keep 50steps", or NULL: everything is kept */
  td_keep_limit limit;
  gint64 every_us; /* between two dumps that nothing caused; 0: none */
} td_keep_choice;

void td_keep_choice_clear(td_keep_choice *choice);

/* The entries of --keep and --dump-every for a command's table of options. */
#define TD_KEEP_ENTRIES(choice)                                                                    \
  {"keep",                                                                                         \
   0,                                                                                              \
   0,                                                                                              \
   G_OPTION_ARG_STRING,                                                                            \
   &(choice).keep,                                                                                 \
   "Keep only the end of the recording: 200MB, 50steps or 10min of it",                            \
   "SIZE"},                                                                                        \
  {                                                                                                \
    "dump-every", 0, 0, G_OPTION_ARG_STRING, &(choice).dump_every,                                 \
        "With --keep: also write a tape every so often, as 1h or 30min", "TIME"                    \
  }

/* td_keep_choice_check reads the options. TD_INVALID if one is wrong. */
td_status td_keep_choice_check(td_keep_choice *choice, td_error *error);

/* td_keep_choice_check_folder returns TD_UNSUPPORTED if files in the tape's folder cannot give back
 * room. */
td_status td_keep_choice_check_folder(const td_keep_choice *choice, const char *tape,
                                      td_error *error);

/* td_keep_choice_add_answer adds the choice to a `record` line. */
void td_keep_choice_add_answer(const td_keep_choice *choice, td_line_text *record);
