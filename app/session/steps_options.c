/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/steps_options.h"

#include "app/common/word_list.h"

void
td_steps_choice_clear(td_steps_choice *choice) {
  g_free(choice->steps);
  g_free(choice->every);
  g_free(choice->first);
  g_free(choice->until);
  g_free(choice->words);
}

static bool
read_number(const char *text, guint32 least, guint32 *number) {
  guint64 value;
  if (!g_ascii_string_to_unsigned(text, 10, least, G_MAXUINT32 - 1, &value, NULL)) return false;
  *number = (guint32)value;
  return true;
}

/* "100:103", "100:", ":3" or "7". */
static bool
read_range(const char *text, td_steps_choice *choice) {
  g_auto(GStrv) ends = g_strsplit(text, ":", 3);
  guint n = g_strv_length(ends);
  if (n == 1 && read_number(ends[0], 0, &choice->from)) {
    choice->to = choice->from + 1;
    return true;
  }
  return n == 2 && (*ends[0] || *ends[1]) &&
         (!*ends[0] || read_number(ends[0], 0, &choice->from)) &&
         (!*ends[1] || read_number(ends[1], 0, &choice->to));
}

static char *
list_words(const td_steps_choice *choice) {
  const struct {
    const char *name, *value;
  } given[] = {{"--steps", choice->steps},
               {"--first", choice->first},
               {"--every", choice->every},
               {"--until", choice->until}};
  g_autoptr(GString) words = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(given); i++)
    if (given[i].value)
      g_string_append_printf(words, "%s%s %s", words->len ? " " : "", given[i].name,
                             given[i].value);
  return words->len ? g_string_free(g_steal_pointer(&words), FALSE) : NULL;
}

td_status
td_steps_choice_check(td_steps_choice *choice, td_error *error) {
  choice->to = G_MAXUINT32;
  choice->n = 1;
  if (choice->steps && choice->first)
    return td_error_set(error, TD_INVALID,
                        "--first %s says the same as --steps :%s; give only one of them",
                        choice->first, choice->first);
  if (choice->steps && !read_range(choice->steps, choice))
    return td_error_set(error, TD_INVALID, "--steps '%s': must be FROM:TO, two numbers of steps",
                        choice->steps);
  if (choice->first && !read_number(choice->first, 1, &choice->to))
    return td_error_set(error, TD_INVALID, "--first '%s': must be a number from 1 to %u",
                        choice->first, G_MAXUINT32 - 1);
  if (choice->from >= choice->to)
    return td_error_set(error, TD_INVALID, "--steps '%s': FROM must be less than TO",
                        choice->steps);
  if (choice->every && !read_number(choice->every, 1, &choice->n))
    return td_error_set(error, TD_INVALID, "--every '%s': must be a number from 1 to %u",
                        choice->every, G_MAXUINT32 - 1);
  const char *const causes[] = {"nan", NULL};
  if (choice->until && td_word_list_check("--until", choice->until, causes, error))
    return TD_INVALID;
  choice->words = list_words(choice);
  return TD_OK;
}

void
td_steps_choice_add_answer(const td_steps_choice *choice, td_line_text *record) {
  if (!choice->words) return;
  td_line_add(record, "steps", choice->words);
  td_line_add_number(record, "from", choice->from);
  td_line_add_number(record, "to", choice->to);
  td_line_add_number(record, "every", choice->n);
  td_line_add(record, "until", choice->until);
}
