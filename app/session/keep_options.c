/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/keep_options.h"

#include "app/common/exit.h"

#include <string.h>

void
td_keep_choice_clear(td_keep_choice *choice) {
  g_free(choice->keep);
  g_free(choice->dump_every);
  g_free(choice->words);
}

static bool
read_keep(const char *command, td_keep_choice *choice) {
  const char *trouble = td_keep_limit_read(choice->keep, &choice->limit);
  if (trouble) td_command_bad_usage(command, "--keep '%s': %s", choice->keep, trouble);
  choice->words = g_strdup_printf("--keep %s", choice->keep);
  return !trouble;
}

static bool
read_every(const char *command, td_keep_choice *choice) {
  td_keep_limit limit;
  if (!choice->keep)
    td_command_bad_usage(command, "--dump-every writes what --keep has kept; give --keep too");
  else if (td_keep_limit_read(choice->dump_every, &limit) || !limit.ns)
    td_command_bad_usage(command, "--dump-every '%s': must be a number and s, min or h",
                         choice->dump_every);
  else {
    choice->every_us = (gint64)(limit.ns / 1000);
    return true;
  }
  return false;
}

bool
td_keep_choice_check(const char *command, td_keep_choice *choice) {
  return (!choice->keep || read_keep(command, choice)) &&
         (!choice->dump_every || read_every(command, choice));
}

bool
td_keep_choice_check_folder(const td_keep_choice *choice, const char *tape) {
  g_autofree char *folder = g_path_get_dirname(tape);
  int failure = choice->keep ? td_keeper_can_free(folder) : 0;
  if (failure)
    td_command_fail(folder, "--keep is not possible here: files cannot give back room (%s)",
                    g_strerror(failure));
  return failure == 0;
}

void
td_keep_choice_add_answer(const td_keep_choice *choice, td_line_text *record) {
  td_line_add(record, "keep", choice->words);
}
