/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The server's end of a live session over ssh: `tapedeck relay PID`, which `tapedeck open
 * ssh://...` starts there by ssh. It is a viewer of the session. It passes lines on both ways,
 * between the hub and its own standard files. It also sends the tape, for the desk has no other way
 * to it. The desk's end is app/session/remote/remote_session.h.
 *
 * Note [Lines of a relay]
 * Beside the hub's lines (engine/control/line.h) a relay says:
 *
 *   relay protocol= tapedeck= pid= first: the number of this protocol, the version, the program
 *   sorry problem=                 there is no such session, and why: a sentence
 *   waiting                        the tape has not begun
 *   copy path= n=                  the tape begins to come; where it is there, how many bytes
 *   bytes at= data=                a part of the tape, in base64
 *   zeros at= n=                   as many zero bytes there
 *   cut n=                         the tape ends after n bytes
 *   ended                          the recording is over, and the tape has come to its last byte
 *
 * A part begins inside the tape so far or at its end. The copy is never behind what a line
 * promises: before `tape`, `stopped` and `over` come all bytes that the tape has then.
 *
 * It ends when its input or its session does. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define TD_RELAY_PROTOCOL 1

/* td_relay_run serves until the end. `from_desk` and `to_desk` are descriptors, and stay open.
 * Returns false if the tape did not come to its last byte. Main thread. */
bool td_relay_run(guint32 pid, int from_desk, int to_desk);
