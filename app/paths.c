/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/paths.h"

#include <glib.h>

static gboolean
runs_from_build_folder(void) {
  g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
  return program && g_str_has_prefix(program, TD_BUILD_FOLDER "/");
}

const char *
td_path_python(void) {
  return TD_PYTHON;
}

const char *
td_path_module(void) {
  return runs_from_build_folder() ? TD_BUILD_FOLDER "/engine/python/tapedeck" : TD_INSTALLED_MODULE;
}

const char *
td_path_examples(void) {
  return runs_from_build_folder() ? TD_SOURCE_FOLDER "/resources/examples" : TD_INSTALLED_EXAMPLES;
}

const char *
td_path_lessons(void) {
  return runs_from_build_folder() ? TD_SOURCE_FOLDER "/resources/lessons" : TD_INSTALLED_LESSONS;
}

const char *
td_path_translations(void) {
  return runs_from_build_folder() ? TD_BUILD_FOLDER "/resources/po" : TD_INSTALLED_TRANSLATIONS;
}

const char *
td_path_program(void) {
  return runs_from_build_folder() ? TD_BUILD_FOLDER "/app/tapedeck" : TD_INSTALLED_PROGRAM;
}

const char *
td_path_whole_program(void) {
  return runs_from_build_folder() ? TD_BUILD_FOLDER "/app/tapedeck-whole"
                                  : TD_INSTALLED_PROGRAMS "/tapedeck-whole";
}

const char *
td_path_probe_libraries(void) {
  return runs_from_build_folder() ? TD_BUILD_FOLDER "/engine/probe" : TD_INSTALLED_PROBE_LIBRARIES;
}

const char *
td_path_probe_sources(void) {
  return runs_from_build_folder() ? TD_SOURCE_FOLDER : TD_INSTALLED_PROBE_SOURCES;
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
