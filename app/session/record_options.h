/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the user wants of `tapedeck record`, and what a target hears of it. Main thread. */
#pragma once

#include "app/session/keep_options.h"
#include "app/session/live.h"
#include "app/session/steps_options.h"

typedef struct td_record_options {
  char *tape, *anomaly, *stats, *policy, *level; /* (owned) */
  gboolean force, stacks;
  gboolean no_compile;          /* torch.compile returns what it is given */
  gboolean inside;              /* the program is there already; the command only names it */
  int to_program, from_program; /* descriptors of the program, if it is inside */
  bool level_is_forced;         /* the user gave --level */
  td_live_options live;
  td_steps_choice steps;
  td_keep_choice keep;
} td_record_options;

void td_record_options_clear(td_record_options *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(td_record_options, td_record_options_clear)

/* td_record_options_check fills in the defaults. TD_INVALID if a word is wrong. */
td_status td_record_options_check(td_record_options *options, const td_announcer *announcer,
                                  td_error *error);

/* td_record_options_place makes the tape's path absolute. TD_IO or TD_UNSUPPORTED if the tape
 * cannot go there. */
td_status td_record_options_place(td_record_options *options, char **command, td_error *error);

/* td_record_options_add_answer adds the options to a `record` line. */
void td_record_options_add_answer(const td_record_options *options, td_line_text *record);
