/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The commands of the program. Each is one file, app/commands/<name>.c. Its one public function
 * is td_command_<name>(argc, argv); argv[0] is the command's name, and it returns the exit
 * status. Its line in app/commands.def puts it into the help, the man page and the completion.
 * Main thread.
 *
 * Note [Three programs]
 * The libraries that draw and export take 10 ms to load, and those of the window 12 ms more. `info`
 * of most tapes takes less. A server has no GTK at all. So `tapedeck` has the commands that only
 * read a tape. For others it becomes `tapedeck-whole`, which has all commands but no window. For
 * those that need the window it becomes `tapedeck-window`, if that is installed. All are made of
 * the same sources. People know `tapedeck` alone. */
#pragma once

#include "app/common/exit.h"

/* WRITING: a command that reads a tape, and writes a file if that is wanted. Then a confined child
 * does both (app/commands/confined_child.h). If not, the command gives its rights up itself. */
typedef enum td_command_needs {
  TD_NEEDS_ALL,
  TD_NEEDS_READING,
  TD_NEEDS_WRITING,
  TD_NEEDS_WINDOW,
} td_command_needs;

typedef struct td_command {
  const char *name;
  const char *arguments; /* "FILE [OPTION…]" */
  const char *summary;
  td_command_needs needs;
  int (*run)(int argc, char **argv); /* NULL: another program has it */
} td_command;

#define TD_COMMAND(name, needs, arguments, summary) int td_command_##name(int argc, char **argv);
#include "app/commands.def"
#undef TD_COMMAND

/* td_command_table returns all commands in the order of the help, and sets *n to their number.
 * Constant. */
const td_command *td_command_table(size_t *n);

/* td_command_find returns the command of that name, or NULL. */
const td_command *td_command_find(const char *name);

/* td_command_parse reads a command's options out of argv. It returns false if the command is
 * over: it printed --help, or the options were wrong. *status is the exit status then.
 *
 * With `strict`, options end at the first argument that is not an option. So a script keeps its
 * own arguments. The arguments remain in argv[1..]. There must be from min to max of them (max <
 * 0: no limit). */
bool td_command_parse(const char *name, const GOptionEntry *entries, bool strict, int min, int max,
                      int *argc, char ***argv, int *status);

/* The option of all commands that read tapes. It lifts the limits on what a tape may cost. */
#define TD_TRUST_ENTRY                                                                             \
  {                                                                                                \
    "trust", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, (void *)td_command_trust_cb,          \
        "Read a tape that is unlikely large for its file", NULL                                    \
  }
gboolean td_command_trust_cb(const char *option, const char *value, void *data, GError **error);
