/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tape of one process in a flight recorder: follows it, lets it keep its end, and knows when it
 * is worth a dump. Times are those of g_get_monotonic_time. One thread. */
#pragma once

#include "app/common/announcer.h"
#include "engine/trace/keeper.h"

#include <glib.h>

typedef struct td_flight_tape td_flight_tape;

/* What makes a dump by itself. */
typedef struct td_flight_cause {
  const char *name, *words; /* static */
} td_flight_cause;

/* td_flight_tape_new takes the path, at which there may be no file yet. The announcer hears what
 * the tape cannot do. td_flight_tape_set_limit changes what stays from now on. */
td_flight_tape *td_flight_tape_new(char *path, const td_keep_limit *limit,
                                   const td_announcer *announcer);
void td_flight_tape_set_limit(td_flight_tape *self, const td_keep_limit *limit);
void td_flight_tape_free(td_flight_tape *self);

const char *td_flight_tape_get_path(const td_flight_tape *self);
const td_keeper_news *td_flight_tape_get_news(const td_flight_tape *self);

/* td_flight_tape_is_there tells whether there is something to dump. */
bool td_flight_tape_is_there(const td_flight_tape *self);

/* td_flight_tape_read reads what was added. If the tape cannot be followed any more, the announcer
 * hears so once, and the tape keeps everything. */
void td_flight_tape_read(td_flight_tape *self, gint64 now);

/* td_flight_tape_dump_due returns a cause for which the caller must make a dump now, or NULL. It
 * returns each cause once, and then not for ten minutes, however often it comes. A dump waits a
 * little for the end of the pass; with is_last, nothing more will come and it does not wait. */
const td_flight_cause *td_flight_tape_dump_due(td_flight_tape *self, gint64 now, bool is_last);

/* td_flight_tape_dump writes what was kept into the tape `to`, which must not exist yet. TD_IO,
 * TD_DAMAGED. */
td_status td_flight_tape_dump(const td_flight_tape *self, const char *to, td_error *error);

/* td_flight_tape_cut lets go of what is more than the limit, unless a dump must come first. If it
 * cannot, the announcer hears so once, and it tries again some time later. */
void td_flight_tape_cut(td_flight_tape *self, gint64 now);

/* td_flight_tape_finish lets the tape keep exactly its end and rewrites it without gaps. The
 * process has ended. The announcer hears if that is not possible. */
void td_flight_tape_finish(td_flight_tape *self, gint64 now);
