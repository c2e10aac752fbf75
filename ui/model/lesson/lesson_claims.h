/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a lesson's texts say of the tape, so that a check can compare it. At a moment:
 *
 *   pops NODE                       the next task to be popped is that node's.
 *   count NODE = 2                  the node still waits for two gradients.
 *   state NODE = queued             a word of td_node_state.
 *   thread NODE = main              the next time, that thread runs the node.
 *   queue NODE = cpu                the next time, the node enters a queue of that device.
 *   order NODE, NODE                the tasks of the longest queue, first to last.
 *   value NODE = 2                  its next gradient with statistics: one number, nan or inf.
 *   earlier EVENT [NODE]            such an event lies before the moment.
 *   later EVENT [NODE]              such an event comes after it.
 *   never EVENT [NODE]              the tape has no such event.
 *   next EVENT [NODE] FIELD = x     the next such event has that value.
 *   last EVENT [NODE] FIELD = x     the last one before the moment has that value.
 *   passes = 3                      so many backward passes are on the tape.
 *
 * Events and fields are those of engine/events/events.def. The field `thread` is the thread of any
 * event. All elements of a gradient have its `value`.
 *
 * Main thread. */
#pragma once

#include "engine/replay/replay.h"

#include <glib.h>

/* td_lesson_claim_check tells whether a claim holds at the replay's position. FALSE with an error
 * that says what is the case, or what the claim should look like. The replay stays there. */
gboolean td_lesson_claim_check(td_replay *replay, const char *claim, GError **error);
