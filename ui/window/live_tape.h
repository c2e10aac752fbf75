/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tape of a program that still runs. It holds the session that controls the program. Each
 * time the program stops or ends, it reads the tape again in the background. If nobody stops the
 * program, it reads again every few seconds, as long as the tape grows. Main thread.
 *
 * Signals:
 *
 * - "read" with the TdDocument, after each reading;
 * - "failed" with a message, if a reading failed and the one before did not;
 * - "changed", if the session or `is_reading` may answer differently. */
#pragma once

#include "ui/model/live/live_session.h"
#include "ui/model/playhead/playhead.h"

#define TD_TYPE_LIVE_TAPE (td_live_tape_get_type())
G_DECLARE_FINAL_TYPE(TdLiveTape, td_live_tape, TD, LIVE_TAPE, GObject)

/* td_live_tape_new joins the session at `path` and begins to read the tape of one of its processes.
 * A reading keeps the playhead's position, unless the playhead stands at the end: then it follows
 * the new end. Returns NULL if the session is over. Whoever drops the last reference leaves the
 * session, and the program runs on. */
TdLiveTape *td_live_tape_new(const char *path, guint32 process, const char *tape,
                             TdPlayhead *playhead);

TdLiveSession *td_live_tape_get_session(TdLiveTape *self);

/* td_live_tape_is_reading tells whether a reading is in progress or due. */
gboolean td_live_tape_is_reading(TdLiveTape *self);
