/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Live control of the process that is being recorded: its link to a session's hub and its gate. One
 * per process; the GIL is released wherever this waits. */
#pragma once

#include "engine/base/status.h"
#include "engine/control/line.h"
#include "engine/trace/recorder.h"

/* tdpy_live_hello joins the session at `path` and asks its hub what is wanted. TD_IO where the hub
 * is not there. The caller finishes *reply. */
td_status tdpy_live_hello(const char *path, const char *program, td_line *reply, td_error *error);

/* tdpy_live_open tells the hub of the recording that runs, on the tape `tape`, and does as its
 * reply says. */
td_status tdpy_live_open(const td_line *reply, const char *tape, td_recorder *recorder,
                         td_error *error);

/* tdpy_live_release lets every thread go, for good; before the recorder is stopped. tdpy_live_close
 * then tells the hub that the tape is whole. Both without the GIL; harmless when nothing is live.
 */
void tdpy_live_release(void);
void tdpy_live_close(int status);

/* tdpy_live_abandon is for the child of a fork. */
void tdpy_live_abandon(void);
