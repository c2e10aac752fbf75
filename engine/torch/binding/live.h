/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Live control of a recorded process: its link to the hub of a session, and its gate. There is
 * one per process. A function that waits releases the GIL. */
#pragma once

#include "engine/base/status.h"
#include "engine/control/line.h"
#include "engine/trace/recorder.h"

/* tdpy_live_hello joins the session at `path` and reads the hub's reply, which says what to
 * record. TD_IO if there is no hub. The caller finishes *reply. */
td_status tdpy_live_hello(const char *path, const char *program, td_line *reply, td_error *error);

/* tdpy_live_open says to the hub that the recording runs, on the tape `tape`. Then it opens the
 * gate as the reply demands. */
td_status tdpy_live_open(const td_line *reply, const char *tape, td_recorder *recorder,
                         td_error *error);

/* tdpy_live_release lets every thread go, for good. Call it before the recorder stops.
 * tdpy_live_close then says to the hub that the tape is whole. Call both without the GIL. They
 * do nothing if nothing is live. */
void tdpy_live_release(void);
void tdpy_live_close(int status);

/* tdpy_live_ask_for_dump asks the hub for a tape of what a flight recorder has kept. It does
 * nothing if nothing is live. */
void tdpy_live_ask_for_dump(void);

/* tdpy_live_keep has the hub keep the end of this tape from now on, as
 * td_recorder_keep. The limit is one that td_keep_limit_read takes, and `words` say it to the user.
 * It does nothing if the hub has no flight recorder: whoever knows that it has one, calls
 * tdpy_live_may_keep. */
void tdpy_live_may_keep(void);
td_status tdpy_live_keep(td_recorder *recorder, const char *limit, const char *words,
                         td_error *error);

/* tdpy_live_abandon drops the link in the child of a fork. */
void tdpy_live_abandon(void);
