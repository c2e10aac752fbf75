/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/import_dumps.h"

#include "app/command.h"
#include "app/commands/confined_child.h"
#include "app/common/paths.h"
#include "engine/exchange/flight_dump.h"
#include "ui/geometry/format.h"

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#define HEAD_BYTES 4096
#define PICKLED '\x80'

bool
td_import_is_dump(const char *path) {
  static const char *const words[] = {"\"entries\"", "\"pg_config\"", "\"comm_lib_version\"",
                                      "\"nccl_version\""};
  char head[HEAD_BYTES + 1] = "";
  FILE *file = fopen(path, "re");
  if (!file) return false;
  head[fread(head, 1, HEAD_BYTES, file)] = '\0';
  fclose(file);
  if (head[0] == PICKLED) return true;
  bool is_trace = strstr(head, "\"traceEvents\"") || strstr(head, "\"schemaVersion\"");
  for (size_t i = 0; i < G_N_ELEMENTS(words) && !is_trace && head[0] == '{'; i++)
    if (strstr(head, words[i])) return true;
  return false;
}

/* ---- the reader ---- */

/* "FILE\tREASON" is what it says of a dump that it could not read. */
static int
tell_failure(const char *said) {
  g_autofree char *text = g_strdup(said);
  const char *last = strrchr(g_strchomp(text), '\n');
  g_auto(GStrv) parts = g_strsplit(last ? last + 1 : text, "\t", 2);
  if (parts[0] && parts[1]) return td_command_fail(parts[0], "%s", parts[1]);
  return td_command_fail("import", "Python could not read the dumps: %s", parts[0] ? parts[0] : "");
}

static char *
read_rows(char **paths, int n, int *status) {
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  g_autoptr(GError) error = NULL;
  g_autofree char *said = NULL;
  char *rows = NULL;
  int ended = 0;
  g_strv_builder_add_many(words, td_path_python(), "-I", "-c", td_flight_script, NULL);
  for (int i = 0; i < n; i++)
    g_strv_builder_add(words, paths[i]);
  g_auto(GStrv) argv = g_strv_builder_end(words);
  *status = TD_EXIT_USAGE;
  if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &rows, &said, &ended,
                    &error))
    td_command_fail(td_path_python(), "%s", error->message);
  else if (ended != 0 || !g_str_has_suffix(rows, "ready\n"))
    tell_failure(said);
  else
    *status = TD_EXIT_OK;
  return rows;
}

/* ---- the tape ---- */

typedef struct job {
  const char *tape, *source; /* (borrowed) */
  td_flight_dump *dump;      /* (owned) */
} job;

static void
tell_report(const job *self, const td_flight_report *report) {
  g_autofree char *ranks = td_format_many(report->n_dumps, "rank", "ranks");
  g_autofree char *operations =
      td_format_many(report->n_operations - report->n_cut, "operation", "operations");
  g_autofree char *quoted = g_shell_quote(self->tape);
  if (report->n_cut) {
    g_autofree char *cut = td_format_many(report->n_cut, "operation", "operations");
    fprintf(stderr,
            "tapedeck: %s left out, which not every dump can have: the dumps are of different "
            "moments\n",
            cut);
  }
  fprintf(stderr,
          "tapedeck: imported %s: %s of %s; see where they part with: tapedeck findings %s\n",
          self->tape, operations, ranks, quoted);
}

static int
fill(const char *part, int fd, void *data) {
  const job *self = data;
  td_error error = {0};
  td_flight_report report;
  td_status status = td_flight_dump_write(self->dump, part, true, self->source, &report, &error);
  if (status != TD_OK)
    return td_command_file_error(status == TD_IO ? self->tape : self->source, &error);
  tell_report(self, &report);
  return TD_EXIT_OK;
}

static bool
take_rows(td_flight_dump *dump, char *rows) {
  for (char *line = rows, *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = '\0';
    if (strcmp(line, "ready") != 0 && !td_flight_dump_take(dump, line)) return false;
  }
  return true;
}

int
td_import_dumps(char **paths, int n, const char *tape) {
  int status;
  g_autofree char *rows = read_rows(paths, n, &status);
  if (status != TD_EXIT_OK) return status;
  g_autofree char *name = g_path_get_basename(paths[0]);
  g_autofree char *more = n > 1 ? g_strdup_printf("%s and %d more", name, n - 1) : g_strdup(name);
  job self = {.tape = tape, .source = more, .dump = td_flight_dump_new()};
  status = take_rows(self.dump, rows)
               ? td_confined_child_write(tape, fill, &self)
               : td_command_fail(more, "has an operation whose numbers are none");
  td_flight_dump_free(self.dump);
  return status;
}
