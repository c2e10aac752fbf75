/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A session of `tapedeck record`: it runs the command with the probe preloaded, and answers the
 * processes that load PyTorch or Tapedeck's own engine. At the end it says where their tapes are.
 * Main thread. */
#pragma once

#include "app/record_options.h"

/* td_record_session_run returns the command's status, or TD_EXIT_FAILED with the reason on stderr.
 * The options are checked. */
int td_record_session_run(const td_record_options *options, char **command);
