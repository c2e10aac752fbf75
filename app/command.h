/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The commands of the program. Each is one file, app/command_<name>.c. Its one public function
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

#include "engine/base/status.h"

#include <glib.h>
#include <stdbool.h>

/* Exit statuses: all is well; the tape or pass in question is bad; bad usage or unreadable
 * input. */
enum { TD_EXIT_OK = 0, TD_EXIT_BAD = 1, TD_EXIT_USAGE = 2 };

/* WRITING: a command that reads a tape, and writes a file if that is wanted. If not, it gives the
 * rights to write up itself (app/confine.h). */
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

/* td_command_bad_usage prints "tapedeck NAME: message" to standard error and returns TD_EXIT_USAGE.
 */
int td_command_bad_usage(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* td_command_fail prints "tapedeck: FILE: reason" to standard error and returns TD_EXIT_USAGE.
 * td_command_file_error does the same with an engine's error, and clears it. The file is NULL if
 * the reason names it. */
int td_command_fail(const char *file, const char *format, ...) G_GNUC_PRINTF(2, 3);
int td_command_file_error(const char *file, td_error *error);

/* td_command_say_whole says that a command reads all of a tape, because what would spare it that is
 * damaged. Clears the error. */
void td_command_say_whole(const char *file, td_error *error);

/* td_command_list_words returns "off, nan or nonfinite" of a list that ends with NULL. Free it.
 * td_command_check_word returns true if a value is one of the words. Else it prints which option
 * must be which. */
char *td_command_list_words(const char *const *words);
bool td_command_check_word(const char *command, const char *option, const char *value,
                           const char *const *words);

/* td_command_refuse_tape returns false if a file is no tape. Else it prints how to see that tape.
 */
bool td_command_refuse_tape(const char *path);

/* td_command_to_see is the command that messages name for a tape: "open", or "info" where no window
 * is installed. Constant. */
const char *td_command_to_see(void);

/* td_command_may_write returns true if a command may write `output`. Else it prints why not: it is
 * a folder or the input itself, or it exists and `force` is false. */
bool td_command_may_write(const char *output, const char *input, bool force);

/* td_command_shell_name returns the name of a file as one types it in a shell. It is relative if
 * the file is below the current folder, and quoted if the shell needs that. Free it. */
char *td_command_shell_name(const char *path);
