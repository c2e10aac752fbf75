/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The commands of the program. Each is one file, app/command_<name>.c, with one public function
 * td_command_<name>(argc, argv) that returns the exit status; argv[0] is the command's name. Its
 * line in app/commands.def puts it into the help, the man page and the completion. Main thread. */
#pragma once

#include "engine/base/status.h"

#include <glib.h>
#include <stdbool.h>

/* Exit statuses: fine; the thing asked about is bad; bad usage or unreadable input. */
enum { TD_EXIT_OK = 0, TD_EXIT_BAD = 1, TD_EXIT_USAGE = 2 };

typedef struct td_command {
  const char *name;
  const char *arguments; /* "FILE [OPTION…]" */
  const char *summary;
  int (*run)(int argc, char **argv);
} td_command;

#define TD_COMMAND(name, arguments, summary) int td_command_##name(int argc, char **argv);
#include "app/commands.def"
#undef TD_COMMAND

/* td_command_table returns all commands in the order of the help and writes their number. Constant.
 */
const td_command *td_command_table(size_t *n);

/* td_command_find returns the command of that name, or NULL. */
const td_command *td_command_find(const char *name);

/* td_command_parse reads a command's options out of argv. Returns false where the command is over:
 * --help was printed or something was wrong with the options, and *status is what to exit with.
 * With `strict`, options end at the first argument that is none, so that a script's own arguments
 * are left alone. What remains in argv[1..] are the arguments, of which there must be from min to
 * max (max < 0: no limit). */
bool td_command_parse(const char *name, const GOptionEntry *entries, bool strict, int min, int max,
                      int *argc, char ***argv, int *status);

/* td_command_bad_usage prints "tapedeck NAME: message" to standard error and returns TD_EXIT_USAGE.
 */
int td_command_bad_usage(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* td_command_fail prints "tapedeck: FILE: reason" to standard error and returns TD_EXIT_USAGE;
 * td_command_file_error does so with an engine's error, which it clears. */
int td_command_fail(const char *file, const char *format, ...) G_GNUC_PRINTF(2, 3);
int td_command_file_error(const char *file, td_error *error);

/* td_command_shell_name returns a file's name for a command to type next: short where the file is
 * below this folder, quoted where a shell needs that. Free it. */
char *td_command_shell_name(const char *path);
