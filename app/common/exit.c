/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/exit.h"

#include "app/common/output_file.h"
#include "app/common/paths.h"
#include "app/common/shell_name.h"
#include "app/common/word_list.h"
#include "engine/trace/tape.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
print_line(const char *subject, const char *separator, const char *format, va_list args) {
  g_autofree char *text = g_strdup_vprintf(format, args);
  fflush(stdout);
  fprintf(stderr, "tapedeck%s%s: %s\n", separator, subject, text);
}

int
td_command_bad_usage(const char *name, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_line(name, " ", format, args);
  va_end(args);
  return TD_EXIT_USAGE;
}

int
td_command_fail(const char *file, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_line(file ? file : "", file ? ": " : "", format, args);
  va_end(args);
  return TD_EXIT_USAGE;
}

int
td_command_file_error(const char *file, td_error *error) {
  td_command_fail(file, "%s", td_error_text(error));
  td_error_clear(error);
  return TD_EXIT_USAGE;
}

void
td_command_say_whole(const char *file, td_error *error) {
  td_command_fail(file, "%s; reading all of the tape instead", td_error_text(error));
  td_error_clear(error);
}

int
td_command_refuse(const char *name, td_error *error) {
  if (error->status != TD_INVALID) return td_command_file_error(NULL, error);
  td_command_bad_usage(name, "%s", td_error_text(error));
  td_error_clear(error);
  return TD_EXIT_USAGE;
}

bool
td_command_check_word(const char *command, const char *option, const char *value,
                      const char *const *words) {
  td_error error = {0};
  if (td_word_list_check(option, value, words, &error) == TD_OK) return true;
  td_command_refuse(command, &error);
  return false;
}

bool
td_command_refuse_tape(const char *path) {
  if (!td_tape_is_at(path)) return false;
  g_autofree char *name = td_shell_name(path);
  td_command_fail(name, "is a tape; see it with: tapedeck %s %s", td_command_to_see(), name);
  return true;
}

const char *
td_command_to_see(void) {
  return access(td_path_window_program(), X_OK) == 0 ? "open" : "info";
}

static bool
is_same_file(const char *path, const GStatBuf *info) {
  GStatBuf other;
  return g_stat(path, &other) == 0 && other.st_dev == info->st_dev && other.st_ino == info->st_ino;
}

bool
td_command_may_write(const char *output, const char *input, bool force) {
  GStatBuf info;
  bool exists = g_stat(output, &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    td_command_fail(output, "is a directory");
  else if (!force && td_output_is_taken(output))
    td_command_fail(output, "exists already; --force overwrites it, -o FILE chooses another");
  else if (exists && is_same_file(input, &info))
    td_command_fail(output, "is the input itself; -o FILE chooses another");
  else
    return true;
  return false;
}
