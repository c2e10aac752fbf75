/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A session of `tapedeck record`: it runs the command with the probe preloaded, and answers the
 * processes that load PyTorch or Tapedeck's own engine. At the end it says where their tapes are.
 * Main thread. */
#pragma once

#include "app/session/record_options.h"

/* Note [From inside]
 * A program may ask to be recorded while it runs: tapedeck.start() in Python. It starts this
 * session, with options->inside, and keeps a pipe to its standard input. The session says two lines
 * of engine/control/line.h on standard output: `probe path=`, the library to load, and `session
 * path=`, where its hub listens. The program loads the probe, which says hello there. The session
 * ends when it reads anything, or the pipe ends. Its last line is `tape path=`, if there is a tape.
 */

/* td_record_session_run returns the command's status, or TD_EXIT_FAILED with the reason on stderr.
 * The options are checked. */
int td_record_session_run(const td_record_options *options, char **command);
