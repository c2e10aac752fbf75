/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/word_list.h"

#include <glib.h>

char *
td_word_list_dup_text(const char *const *words) {
  g_autoptr(GString) list = g_string_new(words[0]);
  for (gsize i = 1; words[i]; i++)
    g_string_append_printf(list, "%s%s", words[i + 1] ? ", " : " or ", words[i]);
  return g_string_free(g_steal_pointer(&list), FALSE);
}

td_status
td_word_list_check(const char *option, const char *value, const char *const *words,
                   td_error *error) {
  if (g_strv_contains(words, value)) return TD_OK;
  g_autofree char *list = td_word_list_dup_text(words);
  return td_error_set(error, TD_INVALID, "%s '%s': must be %s", option, value, list);
}
