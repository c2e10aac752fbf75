/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Flight recorder: while processes are recorded, a thread lets their tapes keep only their ends. If
 * something happens, it writes what was kept into a tape of its own: a dump. The functions are for
 * the main thread. */
#pragma once

#include "app/common/announcer.h"
#include "engine/trace/keep_limit.h"

#include <glib.h>

typedef struct td_flight td_flight;

/* Hears that a dump was written, on the main context; `path` is NULL if none was. `done` is called
 * once for each td_flight_dump. */
typedef void (*td_flight_done)(const char *path, void *data);

/* td_flight_new starts the thread. Dumps are named after `tape`: NAME.nan.tape and so on. With an
 * every_us that is not 0, there is one each time so much has passed. The announcer hears of each
 * dump and of what cannot be kept, in the thread. */
td_flight *td_flight_new(const char *tape, gint64 every_us, const td_announcer *announcer);

/* td_flight_add follows the tape of one more process, which may not exist yet. If it follows that
 * tape already, the limit is new. `words` say the limit to the user. */
void td_flight_add(td_flight *self, const char *path, const td_keep_limit *limit,
                   const char *words);

/* td_flight_end_tape notes that the process of that tape writes no more. */
void td_flight_end_tape(td_flight *self, const char *path);

/* td_flight_dump asks for a dump of each tape. `cause` becomes a part of its name, and `words` tell
 * the user; both are static. `done` may be NULL. */
void td_flight_dump(td_flight *self, const char *cause, const char *words, td_flight_done done,
                    void *data);

/* td_flight_finish lets each tape keep its end exactly, rewrites it without gaps, ends the thread,
 * and the announcer hears what was let go. A process that still runs goes on with its tape as it
 * is. td_flight_free also takes NULL. */
void td_flight_finish(td_flight *self);
void td_flight_free(td_flight *self);
