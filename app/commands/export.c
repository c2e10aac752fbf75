/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck export`: opens the output, and lets a confined child read the tape and fill it. */
#include "engine/exchange/export.h"

#include "app/command.h"
#include "app/commands/confined_child.h"
#include "app/commands/export_html.h"
#include "app/commands/parquet_writer.h"
#include "app/common/moment.h"
#include "app/common/output_file.h"
#include "app/common/output_folder.h"
#include "app/common/word_list.h"
#include "engine/exchange/table.h"

#include <errno.h>
#include <string.h>

/* What a tape can be exported to: a file, a folder with a file for each table, or a database. */
static const struct format {
  const char *name, *ending; /* of the default output */
  td_status (*write)(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error);
  td_status (*write_tables)(td_tape *tape, const td_export_wish *wish, FILE *const *files,
                            td_error *error);
  bool has_writer; /* the tables go through app/commands/parquet_writer.h */
} formats[] = {
    {"chrome", ".json", .write = td_export_chrome},
    {"csv", "-csv", .write_tables = td_export_csv},
    {"dot", ".dot", .write = td_export_dot},
    {"folded", ".folded", .write = td_export_folded},
    {"html", ".html", .write = td_export_html},
    {"parquet", "-parquet", .write_tables = td_export_typed_csv, .has_writer = true},
    {"perfetto", ".perfetto-trace", .write = td_export_perfetto},
    {"speedscope", ".speedscope.json", .write = td_export_speedscope},
    {"sqlite", ".sqlite"},
};

typedef struct job {
  const char *path, *output; /* (borrowed) */
  const struct format *format;
  td_export_wish wish;
  const char *part;         /* (borrowed) write here */
  char **names;             /* (borrowed) of the files of a folder; ends with NULL */
  FILE *file;               /* (owned) of a file or a database, else NULL */
  FILE *files[TD_N_TABLES]; /* (owned) of a folder, else NULL */
  td_sqlite *database;      /* (owned) in the child */
} job;

/* ---- in the child ---- */

static int
open_database(void *data) {
  job *self = data;
  td_error error = {0};
  if (self->format->write || self->format->write_tables) return TD_EXIT_OK;
  if (!td_sqlite_open(self->part, &self->database, &error)) return TD_EXIT_OK;
  return td_command_file_error(self->output, &error);
}

static td_status
write_output(job *self, td_tape *tape, td_error *error) {
  const struct format *format = self->format;
  if (format->write) return format->write(tape, &self->wish, self->file, error);
  if (format->write_tables) return format->write_tables(tape, &self->wish, self->files, error);
  return td_export_sqlite(tape, &self->wish, self->database, error);
}

static bool
flush(FILE *file) {
  return fflush(file) == 0 && !ferror(file);
}

static int
finish_output(job *self) {
  bool is_whole = !self->file || flush(self->file);
  for (size_t i = 0; i < TD_N_TABLES; i++)
    if (self->files[i]) is_whole = flush(self->files[i]) && is_whole;
  if (is_whole) return TD_EXIT_OK;
  if (self->format->has_writer) return TD_EXIT_OK; /* the writer has ended, and says why */
  return td_command_fail(self->output, "%s", g_strerror(errno ? errno : EIO));
}

static int
fill(void *data) {
  job *self = data;
  td_tape *tape = NULL;
  td_error error = {0};
  td_status status = td_tape_open(self->path, &tape, &error);
  if (!status) status = write_output(self, tape, &error);
  td_tape_close(tape);
  if (self->database) td_sqlite_close(self->database);
  if (status == TD_IO && self->database) return td_command_file_error(self->output, &error);
  if (status) return td_command_file_error(self->path, &error);
  errno = 0;
  return finish_output(self);
}

/* ---- in the command: it alone makes files, so that a signal leaves none ---- */

static int
export_file(job *self, bool force) {
  td_output_file output;
  td_output_file_begin(&output, self->output);
  self->part = output.part;
  self->file = fopen(output.part, "we");
  int status = self->file ? td_confined_child_run(open_database, fill, self)
                          : td_command_fail(self->output, "%s", g_strerror(errno));
  if (self->file) fclose(self->file);
  if (status != TD_EXIT_OK) {
    td_output_file_drop(&output);
    return status;
  }
  if (td_output_file_keep(&output, force)) return TD_EXIT_OK;
  return td_command_fail(self->output, "%s", g_strerror(errno));
}

static bool
open_files(job *self) {
  for (size_t i = 0; i < TD_N_TABLES; i++) {
    g_autofree char *path = g_build_filename(self->part, self->names[i], NULL);
    self->files[i] = fopen(path, "we");
    if (!self->files[i]) return false;
  }
  return true;
}

static void
close_files(job *self) {
  for (size_t i = 0; i < TD_N_TABLES; i++)
    if (self->files[i]) fclose(self->files[i]);
  memset(self->files, 0, sizeof self->files);
}

static int
fill_files(job *self) {
  if (open_files(self)) return td_confined_child_run(open_database, fill, self);
  return td_command_fail(self->output, "%s", g_strerror(errno));
}

/* The files are the writer's alone: what reads the tape can only write into the pipes. */
static int
fill_by_writer(job *self) {
  td_parquet_writer writer;
  g_autofree char *problem = NULL;
  if (!open_files(self)) return td_command_fail(self->output, "%s", g_strerror(errno));
  if (!td_parquet_writer_start(&writer, self->files, &problem))
    return td_command_bad_usage(
        "export",
        "--to parquet needs Python with pyarrow, but %s: pip install pyarrow, or take "
        "--to csv or --to sqlite",
        problem);
  close_files(self);
  memcpy(self->files, writer.pipes, sizeof self->files);
  int status = td_confined_child_run(open_database, fill, self);
  memset(self->files, 0, sizeof self->files);
  bool is_whole = td_parquet_writer_end(&writer, &problem);
  if (status != TD_EXIT_OK || is_whole)
    return status; /* what ends early is no error of the writer */
  return td_command_fail(self->output, "%s", problem);
}

static int
export_folder(job *self, bool force) {
  td_output_folder output;
  const char *const *names = (const char *const *)self->names;
  if (!td_output_folder_begin(&output, self->output, names))
    return td_command_fail(self->output, "%s", g_strerror(errno));
  self->part = output.part;
  int status = self->format->has_writer ? fill_by_writer(self) : fill_files(self);
  close_files(self);
  if (status != TD_EXIT_OK) {
    td_output_folder_drop(&output);
    return status;
  }
  if (td_output_folder_keep(&output, force)) return TD_EXIT_OK;
  return td_command_fail(self->output, "%s", g_strerror(errno));
}

static bool
may_write_folder(const char *output, bool force) {
  if (!td_output_is_taken(output)) return true;
  if (!g_file_test(output, G_FILE_TEST_IS_DIR))
    td_command_fail(output, "is not a folder");
  else if (!force)
    td_command_fail(output, "exists already; --force overwrites it, -o FOLDER chooses another");
  else
    return true;
  return false;
}

static int export(job *self, bool force) {
  if (self->format->write_tables) {
    if (!may_write_folder(self->output, force)) return TD_EXIT_USAGE;
    g_auto(GStrv) names = g_new0(char *, TD_N_TABLES + 1);
    for (int i = 0; i < TD_N_TABLES; i++)
      names[i] = g_strdup_printf("%s.%s", td_table_get((td_table)i)->name, self->format->name);
    self->names = names;
    return export_folder(self, force);
  }
  if (!td_command_may_write(self->output, self->path, force)) return TD_EXIT_USAGE;
  return export_file(self, force);
}

static const struct format *
format_find(const char *name, const char *const *words) {
  g_autofree char *list = td_word_list_dup_text(words);
  if (!name)
    td_command_bad_usage("export", "--to is missing: must be %s", list);
  else if (td_command_check_word("export", "--to", name, words))
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
      if (strcmp(words[i], name) == 0) return &formats[i];
  return NULL;
}

/* "train.tape" becomes "train.dot", in this folder. */
static char *
default_output(const char *path, const struct format *format) {
  g_autofree char *name = g_path_get_basename(path);
  if (g_str_has_suffix(name, ".tape")) name[strlen(name) - strlen(".tape")] = '\0';
  return g_strconcat(name, format->ending, NULL);
}

typedef struct options {
  char *to, *output; /* (owned) */
  gint64 pass;
  gboolean force;
} options;

static int
run(const char *path, const options *options, const char *const *words) {
  job self = {.path = path, .format = format_find(options->to, words)};
  if (!self.format || !td_moment_pass_read("export", options->pass, &self.wish.graph_task))
    return TD_EXIT_USAGE;
  g_autofree char *output =
      options->output ? g_strdup(options->output) : default_output(path, self.format);
  self.output = output;
  return export(&self, options->force);
}

int
td_command_export(int argc, char **argv) {
  const char *words[G_N_ELEMENTS(formats) + 1] = {0};
  for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
    words[i] = formats[i].name;
  g_autofree char *list = td_word_list_dup_text(words);
  g_autofree char *what = g_strdup_printf("What to write: %s", list);
  options options = {.pass = TD_MOMENT_NO_PASS};
  const GOptionEntry entries[] = {
      {"to", 0, 0, G_OPTION_ARG_STRING, &options.to, what, "FORMAT"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
       "Where it goes (default: named after the tape, here)", "OUT"},
      {"pass", 0, 0, G_OPTION_ARG_INT64, &options.pass,
       "Only while this backward pass was under way", "N"},
      {"force", 0, 0, G_OPTION_ARG_NONE, &options.force, "Overwrite what exists", NULL},
      TD_TRUST_ENTRY,
      {0}};
  int status;
  if (td_command_parse("export", entries, false, 1, 1, &argc, &argv, &status))
    status = run(argv[1], &options, words);
  g_free(options.to);
  g_free(options.output);
  return status;
}
