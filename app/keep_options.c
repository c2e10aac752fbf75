/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/keep_options.h"

#include "app/command.h"

#include <string.h>

#define NS_PER_SECOND UINT64_C(1000000000)
/* Below this a keyframe would be most of the tape. */
#define BYTES_LEAST UINT64_C(1000000)

typedef enum dimension { BYTES, STEPS, TIME } dimension;

static const struct {
  const char *name;
  dimension dimension;
  guint64 size;
} units[] = {
    {"steps", STEPS, 1},
    {"step", STEPS, 1},
    {"KB", BYTES, 1000},
    {"MB", BYTES, 1000000},
    {"GB", BYTES, 1000000000},
    {"s", TIME, NS_PER_SECOND},
    {"min", TIME, 60 * NS_PER_SECOND},
    {"h", TIME, 3600 * NS_PER_SECOND},
};

/* "200MB" or "200 MB". */
static bool
read_amount(const char *text, dimension *dimension, guint64 *amount) {
  char *end;
  guint64 number = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0;
  if (number == 0 || number > G_MAXUINT32) return false;
  while (*end == ' ')
    end++;
  for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
    if (strcmp(end, units[i].name) != 0) continue;
    *dimension = units[i].dimension;
    *amount = number * units[i].size;
    return true;
  }
  return false;
}

void
td_keep_choice_clear(td_keep_choice *choice) {
  g_free(choice->keep);
  g_free(choice->dump_every);
  g_free(choice->words);
}

static bool
read_keep(const char *command, td_keep_choice *choice) {
  dimension dimension;
  guint64 amount;
  if (!read_amount(choice->keep, &dimension, &amount)) {
    td_command_bad_usage(
        command, "--keep '%s': must be a number and KB, MB, GB, steps, s, min or h", choice->keep);
    return false;
  }
  if (dimension == BYTES && amount < BYTES_LEAST) {
    td_command_bad_usage(command, "--keep '%s': must be 1MB or more", choice->keep);
    return false;
  }
  if (dimension == BYTES) choice->limit.bytes = amount;
  if (dimension == STEPS) choice->limit.steps = (guint32)amount;
  if (dimension == TIME) choice->limit.ns = amount;
  choice->words = g_strdup_printf("--keep %s", choice->keep);
  return true;
}

static bool
read_every(const char *command, td_keep_choice *choice) {
  dimension dimension;
  guint64 ns;
  if (!choice->keep)
    td_command_bad_usage(command, "--dump-every writes what --keep has kept; give --keep too");
  else if (!read_amount(choice->dump_every, &dimension, &ns) || dimension != TIME)
    td_command_bad_usage(command, "--dump-every '%s': must be a number and s, min or h",
                         choice->dump_every);
  else {
    choice->every_us = (gint64)(ns / 1000);
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
