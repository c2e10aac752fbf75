/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/keep_options.h"

void
td_keep_choice_clear(td_keep_choice *choice) {
  g_free(choice->keep);
  g_free(choice->dump_every);
  g_free(choice->words);
}

static td_status
read_keep(td_keep_choice *choice, td_error *error) {
  const char *trouble = td_keep_limit_read(choice->keep, &choice->limit);
  if (trouble) return td_error_set(error, TD_INVALID, "--keep '%s': %s", choice->keep, trouble);
  choice->words = g_strdup_printf("--keep %s", choice->keep);
  return TD_OK;
}

static td_status
read_every(td_keep_choice *choice, td_error *error) {
  td_keep_limit limit;
  if (!choice->keep)
    return td_error_set(error, TD_INVALID,
                        "--dump-every writes what --keep has kept; give --keep too");
  if (td_keep_limit_read(choice->dump_every, &limit) || !limit.ns)
    return td_error_set(error, TD_INVALID, "--dump-every '%s': must be a number and s, min or h",
                        choice->dump_every);
  choice->every_us = (gint64)(limit.ns / 1000);
  return TD_OK;
}

td_status
td_keep_choice_check(td_keep_choice *choice, td_error *error) {
  td_status status = choice->keep ? read_keep(choice, error) : TD_OK;
  return status || !choice->dump_every ? status : read_every(choice, error);
}

td_status
td_keep_choice_check_folder(const td_keep_choice *choice, const char *tape, td_error *error) {
  g_autofree char *folder = g_path_get_dirname(tape);
  int failure = choice->keep ? td_keeper_can_free(folder) : 0;
  if (failure == 0) return TD_OK;
  return td_error_set(error, TD_UNSUPPORTED,
                      "%s: --keep is not possible here: files cannot give back room (%s)", folder,
                      g_strerror(failure));
}

void
td_keep_choice_add_answer(const td_keep_choice *choice, td_line_text *record) {
  td_line_add(record, "keep", choice->words);
}
