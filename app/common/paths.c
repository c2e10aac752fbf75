/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/paths.h"

#include <glib.h>

static gboolean
runs_from_build_folder(const char *program) {
  return g_str_has_prefix(program, TD_BUILD_FOLDER "/");
}

/* Where the installed tree is: "" if it is where the build said, or the folder that it was moved to
 * as a whole. So DESTDIR is a place to run from, and so is a Python package. */
static char *
find_root(const char *program) {
  static const char *const programs[] = {TD_INSTALLED_PROGRAM, TD_INSTALLED_PROGRAMS};
  for (guint i = 0; i < G_N_ELEMENTS(programs); i++) {
    const char *end = g_strrstr(program, programs[i]);
    if (end) return g_strndup(program, (gsize)(end - program));
  }
  return g_strdup("");
}

/* Constant: one of the two paths, the second one below the root. */
static const char *
choose(const char *built, const char *installed) {
  static char *program, *root;
  if (!program) {
    program = g_file_read_link("/proc/self/exe", NULL);
    if (!program) program = g_strdup("");
    root = find_root(program);
  }
  if (runs_from_build_folder(program)) return built;
  g_autofree char *path = g_strconcat(root, installed, NULL);
  return g_intern_string(path);
}

const char *
td_path_python(void) {
  const char *python = g_getenv("TAPEDECK_PYTHON");
  return python && *python ? python : TD_PYTHON;
}

const char *
td_path_module(void) {
  return choose(TD_BUILD_FOLDER "/engine/python/tapedeck", TD_INSTALLED_MODULE);
}

const char *
td_path_engine(void) {
  return choose(TD_BUILD_FOLDER "/engine/torch/python", TD_INSTALLED_ENGINE);
}

const char *
td_path_examples(void) {
  return choose(TD_SOURCE_FOLDER "/resources/examples", TD_INSTALLED_EXAMPLES);
}

const char *
td_path_lessons(void) {
  return choose(TD_SOURCE_FOLDER "/resources/lessons", TD_INSTALLED_LESSONS);
}

const char *
td_path_fonts(void) {
  return choose(TD_SOURCE_FOLDER "/resources/fonts", TD_INSTALLED_FONTS);
}

const char *
td_path_translations(void) {
  return choose(TD_BUILD_FOLDER "/resources/po", TD_INSTALLED_TRANSLATIONS);
}

const char *
td_path_program(void) {
  return choose(TD_BUILD_FOLDER "/app/tapedeck", TD_INSTALLED_PROGRAM);
}

const char *
td_path_whole_program(void) {
  return choose(TD_BUILD_FOLDER "/app/tapedeck-whole", TD_INSTALLED_PROGRAMS "/tapedeck-whole");
}

const char *
td_path_window_program(void) {
  return choose(TD_BUILD_FOLDER "/app/tapedeck-window", TD_INSTALLED_PROGRAMS "/tapedeck-window");
}

const char *
td_path_probe_libraries(void) {
  return choose(TD_BUILD_FOLDER "/engine/probe", TD_INSTALLED_PROBE_LIBRARIES);
}

const char *
td_path_probe_sources(void) {
  return choose(TD_SOURCE_FOLDER, TD_INSTALLED_PROBE_SOURCES);
}

const char *
td_path_cache(void) {
  static char *path;
  if (path) return path;
  const char *cache = g_get_user_cache_dir();
  path = g_path_is_absolute(cache) ? g_build_filename(cache, "tapedeck", NULL)
                                   : g_build_filename(g_get_home_dir(), ".cache", "tapedeck", NULL);
  return path;
}
