/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The flight recorder of a session: what its options, its processes, and other people want of it.
 * There is none until somebody wants it. Functions of a hub's owner; main thread. */
#pragma once

#include "app/common/child.h"
#include "app/session/flight.h"
#include "app/session/hub.h"
#include "app/session/keep_options.h"

/* With a flight recorder it asks for a dump, and the command does not get it. */
#define TD_KEEP_SIGNAL SIGUSR2

typedef struct td_keep_session {
  const td_keep_choice *choice;  /* (borrowed) */
  const char *tape;              /* (borrowed) the dumps are named after it */
  td_child_options *child;       /* (borrowed) the command, whose signal this takes */
  const td_announcer *announcer; /* (borrowed) */
  td_flight *flight;             /* (owned) or NULL: everything is kept */
} td_keep_session;

/* td_keep_session_begin starts the flight recorder, if the options want one. */
void td_keep_session_begin(td_keep_session *self);

/* td_keep_session_said hears a line of a process with that tape: `keep` or `dump`, or any other. */
void td_keep_session_said(td_keep_session *self, const char *tape, const td_line *line);

/* td_keep_session_dump answers somebody who asks for a dump, now or later. */
void td_keep_session_dump(td_keep_session *self, td_hub_target *asker);

/* td_keep_session_signalled returns whether the signal asked for a dump. */
bool td_keep_session_signalled(td_keep_session *self, int number);

/* td_keep_session_end ends the flight recorder. Who waits for a dump hears of it. */
void td_keep_session_end(td_keep_session *self);
