/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Exit statuses of commands, and the lines on standard error that say why one fails. Main thread.
 */
#pragma once

#include "engine/base/status.h"

#include <glib.h>
#include <stdbool.h>

/* Exit statuses: all is well; the tape or pass in question is bad; bad usage or unreadable
 * input. */
enum { TD_EXIT_OK = 0, TD_EXIT_BAD = 1, TD_EXIT_USAGE = 2 };

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

/* td_command_refuse prints why a command does not begin: a TD_INVALID as td_command_bad_usage does,
 * any other as td_command_file_error. It clears the error and returns TD_EXIT_USAGE. */
int td_command_refuse(const char *name, td_error *error);

/* td_command_check_word returns true if a value is one of the words, which end with NULL. Else it
 * prints which option must be which. */
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
