/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A session of `tapedeck record`: it runs the command with the probe preloaded, and answers the
 * processes that load PyTorch or Tapedeck's own engine. At the end it says where their tapes are.
 * Main thread. */
#pragma once

#include "app/record_options.h"

/* Note [From inside]
 * A program may ask to be recorded while it runs: tapedeck.start() in Python. It starts this
 * session, with options->inside, and keeps a pipe to its standard input. The session prints two
 * lines on standard output: "probe PATH", the library to load, and "session PATH", where its hub
 * listens. The program loads the probe, which says hello there. If the pipe ends, so does the
 * session. Its last line is "tape PATH", if there is a tape. */

/* td_record_session_run returns the command's status, or TD_EXIT_FAILED with the reason on stderr.
 * The options are checked. */
int td_record_session_run(const td_record_options *options, char **command);
