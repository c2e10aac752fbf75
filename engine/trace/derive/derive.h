/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Raw tapes]
 * Problem: at level 2 the probe sees the graph, the calls of backward, and where each node begins
 * and ends. Readers want queues, counts and buffers too. These follow by the engine's rules, but
 * the recorded program should not pay for that.
 *
 * Trick: the program writes a *raw* tape, which has only what was seen. Its header says so. Whoever
 * opens it derives the rest and reads the tape that comes out, which lies in memory. So live
 * viewers, and readers of a tape whose recorder was killed, see what others see. When a recording
 * ends, the recorder's process puts the derived tape in the raw one's place.
 *
 * What is derived depends only on the events before it. So the tape of a program that still runs is
 * a beginning of the tape that it will be, and numbers of events stay.
 *
 * A tape of which events are missing has passes that do not follow. They end with a mark that says
 * so: then the tape has only their observed events. Any thread, each with tapes of its own. */
#pragma once

#include "engine/trace/directory.h"

/* td_derive replaces the directory of a raw tape by that of the tape that follows from it; any
 * other directory stays. TD_IO, TD_OUT_OF_MEMORY, TD_DAMAGED: the directory is closed. */
td_status td_derive(td_directory *directory, td_error *error);

/* td_derive_file writes the tape that follows from the raw tape at `from`, which may still grow, to
 * `to`. It has an index if is_whole. It trusts the tape: this session recorded it. TD_UNSUPPORTED:
 * `from` is not raw. TD_DAMAGED: parts of it are missing, so it should stay as it is. Else as
 * td_directory_open. */
td_status td_derive_file(const char *from, const char *to, bool is_whole, td_error *error);

/* td_derive_in_place puts the derived tape in the raw one's place. It does nothing to other tapes.
 */
td_status td_derive_in_place(const char *path, td_error *error);

/* td_derive_is_raw returns true if the tape at this path is raw. */
bool td_derive_is_raw(const char *path);
