/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"

/* Of a build with -Dtorch=disabled. */
int
td_command_bench(int argc, char **argv) {
  int status;
  if (!td_command_parse("bench", NULL, false, 0, -1, &argc, &argv, &status)) return status;
  return td_command_fail("no bench",
                         "it measures Tapedeck's own engine, which was not built "
                         "(-Dtorch=disabled); `tapedeck --help` lists what works without it");
}
