/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What GLib 2.66 does not have yet, as GLib has it since 2.68 and 2.70. The build includes this
 * file first, if GLib is that old: a wheel is built with the libraries of Debian 11. */
#pragma once

#include <gio/gio.h>
#include <string.h>

#ifndef G_DEFINE_FINAL_TYPE
#define G_DEFINE_FINAL_TYPE(TypeName, type_name, parent) G_DEFINE_TYPE(TypeName, type_name, parent)
#define G_DEFINE_FINAL_TYPE_WITH_CODE(TypeName, type_name, parent, code)                           \
  _G_DEFINE_TYPE_EXTENDED_BEGIN(TypeName, type_name, parent, 0) {                                  \
    code;                                                                                          \
  }                                                                                                \
  _G_DEFINE_TYPE_EXTENDED_END()
#endif

typedef struct GStrvBuilder {
  GPtrArray *words; /* (owned) */
} GStrvBuilder;

static inline GStrvBuilder *
g_strv_builder_new(void) {
  GStrvBuilder *self = g_new(GStrvBuilder, 1);
  self->words = g_ptr_array_new_with_free_func(g_free);
  return self;
}

static inline void
g_strv_builder_unref(GStrvBuilder *self) {
  g_ptr_array_unref(self->words);
  g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GStrvBuilder, g_strv_builder_unref)

static inline void
g_strv_builder_add(GStrvBuilder *self, const char *word) {
  g_ptr_array_add(self->words, g_strdup(word));
}

static inline void
g_strv_builder_addv(GStrvBuilder *self, const char **words) {
  for (; *words; words++)
    g_strv_builder_add(self, *words);
}

/* A function with `...` cannot be inline; a literal array of the words can. */
#define g_strv_builder_add_many(self, ...)                                                         \
  g_strv_builder_addv((self), (const char *[]){__VA_ARGS__})

static inline GStrv
g_strv_builder_end(GStrvBuilder *self) {
  GPtrArray *words = g_steal_pointer(&self->words);
  self->words = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(words, NULL);
  return (GStrv)g_ptr_array_free(words, FALSE);
}

static inline gpointer
g_memdup2(gconstpointer bytes, gsize n_bytes) {
  if (!bytes || !n_bytes) return NULL;
  return memcpy(g_malloc(n_bytes), bytes, n_bytes);
}

static inline gboolean
g_log_writer_default_would_drop(GLogLevelFlags level, const char *domain) {
  return (level & (G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG)) && !g_getenv("G_MESSAGES_DEBUG");
}
