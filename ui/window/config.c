/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/config.h"

#define GROUP "window"
#define MAX_RECENT 10

struct TdConfig {
  GKeyFile *file; /* (owned) */
  char *path;     /* (owned) */
};

TdConfig *
td_config_load(void) {
  TdConfig *self = g_new0(TdConfig, 1);
  self->file = g_key_file_new();
  self->path = g_build_filename(g_get_user_config_dir(), "tapedeck", "window.ini", NULL);
  g_key_file_load_from_file(self->file, self->path, G_KEY_FILE_NONE, NULL);
  return self;
}

void
td_config_save(TdConfig *self) {
  g_autofree char *folder = g_path_get_dirname(self->path);
  g_mkdir_with_parents(folder, 0700);
  g_key_file_save_to_file(self->file, self->path, NULL);
}

void
td_config_free(TdConfig *self) {
  g_key_file_unref(self->file);
  g_free(self->path);
  g_free(self);
}

int
td_config_get_int(TdConfig *self, const char *key, int fallback) {
  g_autoptr(GError) error = NULL;
  int value = g_key_file_get_integer(self->file, GROUP, key, &error);
  return error ? fallback : value;
}

void
td_config_set_int(TdConfig *self, const char *key, int value) {
  g_key_file_set_integer(self->file, GROUP, key, value);
}

char **
td_config_dup_recent(TdConfig *self) {
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  g_auto(GStrv) all = g_key_file_get_string_list(self->file, GROUP, "recent", NULL, NULL);
  for (guint i = 0; all && all[i]; i++)
    if (g_file_test(all[i], G_FILE_TEST_IS_REGULAR)) g_strv_builder_add(builder, all[i]);
  return g_strv_builder_end(builder);
}

void
td_config_add_recent(TdConfig *self, const char *path) {
  g_autoptr(GPtrArray) paths = g_ptr_array_new();
  g_auto(GStrv) before = td_config_dup_recent(self);
  g_autofree char *absolute = g_canonicalize_filename(path, NULL);
  g_ptr_array_add(paths, absolute);
  for (guint i = 0; before[i] && paths->len < MAX_RECENT; i++)
    if (strcmp(before[i], absolute) != 0) g_ptr_array_add(paths, before[i]);
  g_key_file_set_string_list(self->file, GROUP, "recent", (const char *const *)paths->pdata,
                             paths->len);
}
