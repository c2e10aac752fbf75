/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/window_request.h"

int
td_window_run(const TdWindowRequest *request) {
  return td_command_fail("no window", "this build has none (-Dgtk=disabled); see tapedeck --help");
}
