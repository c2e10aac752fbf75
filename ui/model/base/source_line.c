/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/base/source_line.h"

#include "engine/profile/source_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_BYTES_MAX 4096
#define FILE_BYTES_MAX (16 << 20) /* nobody writes such a model by hand */

static void
free_line(TdSourceLine *self) {
  g_free(self->file);
  g_free(self->function);
  g_free(self);
}

/* In the order in which they are tried; a file's name may hold a colon. */
static const struct {
  const char *pattern;
  gboolean innermost_last;
} forms[] = {
    {"^\\s*File \"(?<file>.+)\", line (?<line>[0-9]+)(?:, in (?<function>.+))?$", TRUE},
    {"^\\s*(?<file>\\S.*)\\((?<line>[0-9]+)\\):?\\s*(?<function>.*)$", FALSE},
    {"^\\s*(?<file>\\S.*):(?<line>[0-9]+):?(?:\\s+(?:in )?(?<function>.+))?$", TRUE},
};

static TdSourceLine *
parse_line(const char *text, gboolean *innermost_last) {
  static GRegex *compiled[G_N_ELEMENTS(forms)];
  for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
    g_autoptr(GMatchInfo) match = NULL;
    if (!compiled[i]) compiled[i] = g_regex_new(forms[i].pattern, 0, 0, NULL);
    if (!g_regex_match(compiled[i], text, 0, &match)) continue;
    g_autofree char *line = g_match_info_fetch_named(match, "line");
    TdSourceLine *found = g_new(TdSourceLine, 1);
    char *function = g_match_info_fetch_named(match, "function");
    *found = (TdSourceLine){g_match_info_fetch_named(match, "file"),
                            function ? g_strstrip(function) : g_strdup(""),
                            (guint)strtoul(line, NULL, 10)};
    *innermost_last |= forms[i].innermost_last;
    return found;
  }
  return NULL;
}

static void
reverse(GPtrArray *lines) {
  for (guint i = 0; i < lines->len / 2; i++) {
    gpointer kept = lines->pdata[i];
    lines->pdata[i] = lines->pdata[lines->len - 1 - i];
    lines->pdata[lines->len - 1 - i] = kept;
  }
}

GPtrArray *
td_source_lines_parse(const char *stack) {
  GPtrArray *lines = g_ptr_array_new_with_free_func((GDestroyNotify)free_line);
  g_auto(GStrv) parts = g_strsplit(stack ? stack : "", "\n", -1);
  gboolean innermost_last = FALSE;
  for (guint i = 0; parts[i]; i++) {
    TdSourceLine *line = parse_line(parts[i], &innermost_last);
    if (line) g_ptr_array_add(lines, line);
  }
  if (innermost_last) reverse(lines);
  return lines;
}

const TdSourceLine *
td_source_lines_find_own(GPtrArray *lines) {
  for (guint i = 0; i < lines->len; i++) {
    const TdSourceLine *line = lines->pdata[i];
    if (!td_source_is_library(line->file)) return line;
  }
  return lines->len ? lines->pdata[0] : NULL;
}

char *
td_source_line_dup_short(const char *stack) {
  g_autoptr(GPtrArray) lines = td_source_lines_parse(stack);
  const TdSourceLine *own = td_source_lines_find_own(lines);
  if (!own) return NULL;
  g_autofree char *name = g_path_get_basename(own->file);
  return g_strdup_printf("%s:%u", name, own->line);
}

/* The path stands on a tape, which may be a stranger's: nothing but a plain file of a sensible size
 * is opened. */
static gboolean
is_readable(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= FILE_BYTES_MAX;
}

char *
td_source_line_dup_text(const TdSourceLine *self) {
  FILE *file = is_readable(self->file) ? fopen(self->file, "re") : NULL;
  char text[LINE_BYTES_MAX];
  guint at = 0;
  gboolean found = FALSE;
  while (file && !found && fgets(text, sizeof text, file)) {
    size_t length = strlen(text);
    gboolean whole = length > 0 && text[length - 1] == '\n';
    found = at + 1 == self->line;
    at += whole;
  }
  if (file) fclose(file);
  return found && g_utf8_validate(text, -1, NULL) ? g_strdup(g_strstrip(text)) : NULL;
}
