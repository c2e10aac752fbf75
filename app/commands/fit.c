/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck fit`: makes and tries the observer for a Python's PyTorch, so that the first recording
 * need not wait. An observer that failed is made anew. */
#include "app/command.h"
#include "app/print/line_announcer.h"
#include "app/session/observer/probe_build.h"

#include <stdio.h>

/* Prints the path of libtorch_cpu.so. Where the package does not hold it, PyTorch must be loaded.
 */
static const char finder[] =
    "import importlib.util, os, sys\n"
    "found = importlib.util.find_spec('torch')\n"
    "if not found or not found.submodule_search_locations: sys.exit('it has no PyTorch')\n"
    "path = os.path.join(found.submodule_search_locations[0], 'lib', 'libtorch_cpu.so')\n"
    "if not os.path.exists(path):\n"
    "    import torch\n"
    "    paths = [line[line.index('/'):-1] for line in open('/proc/self/maps')\n"
    "             if '/libtorch_cpu.so' in line]\n"
    "    path = paths[0] if paths else sys.exit('its PyTorch is not one that Tapedeck can watch')\n"
    "print(path)\n";

/* The library of a Python's PyTorch, or NULL with the reason. */
static char *
find_library(char *python, char **problem) {
  g_autofree char *found = NULL, *said = NULL;
  g_autoptr(GError) error = NULL;
  int status = 0;
  char *argv[] = {python, (char *)"-c", (char *)finder, NULL};
  if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &found, &said, &status,
                    &error)) {
    *problem = g_strdup(error->message);
    return NULL;
  }
  if (status == 0 && *found == '/') return g_strdup(g_strchomp(found));
  g_auto(GStrv) lines = g_strsplit(g_strchomp(said), "\n", -1);
  guint n = g_strv_length(lines);
  *problem = g_strdup(n ? lines[n - 1] : "it is no Python");
  return NULL;
}

static int
fit(const char *name) {
  g_autofree char *python = g_find_program_in_path(name), *problem = NULL;
  g_autoptr(GError) error = NULL;
  if (!python) return td_command_fail(name, "there is no such program");
  g_autofree char *library = find_library(python, &problem);
  if (!library) return td_command_fail(name, "%s", problem);
  td_trial_host *host = td_trial_host_new(python);
  g_autofree char *observer = td_probe_build(library, host, TRUE, td_line_announcer_get(), &error);
  td_trial_host_free(host);
  if (observer)
    printf("%s: recorded at level 1, by %s\n", name, observer);
  else
    printf("%s: recorded at level 2 (hooks), because %s\n", name, error->message);
  return observer ? TD_EXIT_OK : TD_EXIT_BAD;
}

int
td_command_fit(int argc, char **argv) {
  int status;
  if (!td_command_parse("fit", NULL, false, 0, 1, &argc, &argv, &status)) return status;
  return fit(argc > 1 ? argv[1] : "python3");
}
