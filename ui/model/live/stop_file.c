/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/live/stop_file.h"

#include "ui/model/base/user_file.h"
#include "ui/model/live/stop.h"

#define TAPES_MAX 200

static char *
dup_path(void) {
  return g_build_filename(g_get_user_config_dir(), "tapedeck", "stops.ini", NULL);
}

/* The name of a group has no brackets. */
static char *
dup_group(const char *tape) {
  g_autofree char *absolute = g_canonicalize_filename(tape, NULL);
  return g_uri_escape_string(absolute, "/", TRUE);
}

static void
read_list(GKeyFile *file, const char *group, const char *key, gboolean enabled, GListStore *stops) {
  g_auto(GStrv) texts = g_key_file_get_string_list(file, group, key, NULL, NULL);
  for (guint i = 0; texts && texts[i]; i++) {
    g_autoptr(TdStop) stop = td_stop_new(texts[i], NULL);
    if (!stop) continue;
    td_stop_set_enabled(stop, enabled);
    g_list_store_append(stops, stop);
  }
}

void
td_stop_file_read(const char *tape, GListStore *stops) {
  g_autofree char *group = dup_group(tape), *path = dup_path();
  g_autoptr(GKeyFile) file = td_user_file_load(path, NULL);
  if (!file) return;
  read_list(file, group, "on", TRUE, stops);
  read_list(file, group, "off", FALSE, stops);
}

static void
write_list(GKeyFile *file, const char *group, const char *key, gboolean enabled,
           GListModel *stops) {
  g_autoptr(GPtrArray) texts = g_ptr_array_new();
  for (guint i = 0; i < g_list_model_get_n_items(stops); i++) {
    g_autoptr(TdStop) stop = g_list_model_get_item(stops, i);
    if (td_stop_get_enabled(stop) == enabled)
      g_ptr_array_add(texts, (gpointer)td_stop_get_text(stop));
  }
  if (texts->len)
    g_key_file_set_string_list(file, group, key, (const char *const *)texts->pdata, texts->len);
}

/* Groups stand in the order in which they were last written. */
static void
forget_oldest(GKeyFile *file) {
  gsize n;
  g_auto(GStrv) groups = g_key_file_get_groups(file, &n);
  for (gsize i = 0; n - i > TAPES_MAX; i++)
    g_key_file_remove_group(file, groups[i], NULL);
}

gboolean
td_stop_file_write(const char *tape, GListModel *stops, GError **error) {
  g_autofree char *group = dup_group(tape), *path = dup_path();
  g_autoptr(GKeyFile) file = td_user_file_load(path, error);
  if (!file) return FALSE;
  g_key_file_remove_group(file, group, NULL);
  write_list(file, group, "on", TRUE, stops);
  write_list(file, group, "off", FALSE, stops);
  forget_oldest(file);
  return td_user_file_save(file, path, error);
}
