/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A stop of the list of stops: a condition (engine/control/condition.h), whether it is on, and how
 * often it holds on the tape. Main thread. */
#pragma once

#include "engine/control/condition.h"

#include <glib-object.h>

#define TD_TYPE_STOP (td_stop_get_type())
G_DECLARE_FINAL_TYPE(TdStop, td_stop, TD, STOP, GObject)

/* td_stop_new returns NULL with an error of TD_ERROR if nobody can read the condition. Properties
 * "enabled" and "hits" notify. */
TdStop *td_stop_new(const char *text, GError **error);

const td_condition *td_stop_get_condition(TdStop *self);
const char *td_stop_get_text(TdStop *self);
const char *td_stop_get_help(TdStop *self); /* what has happened then, translated */

gboolean td_stop_get_enabled(TdStop *self);
void td_stop_set_enabled(TdStop *self, gboolean enabled);

/* How many events of the tape it hits; -1: nobody has counted yet. */
gint64 td_stop_get_hits(TdStop *self);
void td_stop_set_hits(TdStop *self, gint64 hits);
