/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/analysis/whatif_changes.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

td_status
td_whatif_read_changes(GStrv words, GArray *scalings, unsigned *frees, td_error *error) {
  for (guint i = 0; words[i]; i++) {
    char *word = g_strstrip(words[i]), *equals = strrchr(word, '='), *end = NULL;
    guint64 node;
    td_freeable what = td_freeable_find(word);
    if (what != TD_N_FREEABLES) *frees |= 1u << what;
    if (!*word || what != TD_N_FREEABLES) continue;
    double share = equals ? g_ascii_strtod(equals + 1, &end) : -1;
    if (!equals || equals == word || end == equals + 1 || *end || !(share >= 0) || !isfinite(share))
      return td_error_set(
          error, TD_OUT_OF_RANGE,
          _("%s: must be like AddmmBackward0=0.5 or #12=0, or be lock, gil or hook"), word);
    *equals = '\0';
    gboolean is_node =
        *word == '#' && g_ascii_string_to_unsigned(word + 1, 10, 0, TD_NONE - 1, &node, NULL);
    const td_scaling scaling = {is_node ? NULL : word, is_node ? (uint32_t)node : TD_NONE, share};
    g_array_append_val(scalings, scaling);
  }
  return TD_OK;
}
