/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck import`: opens the trace and the tape, and lets a confined child feed the trace,
 * compressed or not, to engine/exchange. The tape gets its name when it is whole. Dumps of the
 * flight recorder go to import_dumps.h. */
#include "engine/exchange/import.h"
#include "app/command.h"
#include "app/commands/confined_child.h"
#include "app/commands/import_dumps.h"
#include "app/common/terminal.h"
#include "engine/replay/segments.h"
#include "engine/trace/tape.h"
#include "ui/geometry/format.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES (256u << 10)
#define CLEAR_LINE "\r\033[K"
#define PROGRESS_US 200000 /* seconds between two lines of progress */

/* A compressed trace that is larger than both is made to be so: real ones reach 30 times. */
#define TEXT_BYTES_OF_BYTE 100
#define TEXT_BYTES_MIN (64u << 20)

typedef struct trace_file {
  const char *path; /* (borrowed) */
  int fd, failure;  /* errno of a read that failed, or 0 */
  uint64_t n_bytes, n_read, n_text;
  GZlibDecompressor *gzip; /* (owned) or NULL */
  bool gzip_ended;
  gint64 began_us, told_us;
  unsigned char *raw, *text; /* (owned) BLOCK_BYTES each */
  size_t raw_at, raw_n;
} trace_file;

static void
trace_file_clear(trace_file *file) {
  if (file->fd >= 0) close(file->fd);
  g_clear_object(&file->gzip);
  g_free(file->raw);
  g_free(file->text);
}

static bool
open_trace(trace_file *file, const char *path) {
  struct stat info;
  unsigned char magic[2];
  *file = (trace_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file->fd < 0 || fstat(file->fd, &info) != 0) {
    td_command_fail(path, "%s", g_strerror(errno));
    return false;
  }
  if (!S_ISREG(info.st_mode)) {
    td_command_fail(path, S_ISDIR(info.st_mode) ? "is a directory" : "is not a regular file");
    return false;
  }
  file->n_bytes = (uint64_t)info.st_size;
  file->raw = g_malloc(BLOCK_BYTES);
  file->text = g_malloc(BLOCK_BYTES);
  file->began_us = g_get_monotonic_time();
  ssize_t n = pread(file->fd, magic, 2, 0);
  if (n < 0) {
    td_command_fail(path, "%s", g_strerror(errno));
    return false;
  }
  if (n == 2 && magic[0] == 0x1f && magic[1] == 0x8b)
    file->gzip = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP);
  return true;
}

static void
tell_progress(trace_file *file) {
  gint64 now = g_get_monotonic_time();
  if (now - file->began_us < G_USEC_PER_SEC || now - file->told_us < PROGRESS_US) return;
  if (!isatty(STDERR_FILENO)) return;
  file->told_us = now;
  g_autofree char *size = g_format_size(file->n_bytes);
  td_terminal_control(CLEAR_LINE);
  fprintf(stderr, "reading %s: %.0f %% of %s", file->path,
          100.0 * (double)file->n_read / (double)MAX(file->n_bytes, 1), size);
}

static void
end_progress(const trace_file *file) {
  if (file->told_us) td_terminal_control(CLEAR_LINE);
}

/* The next bytes of the file as they lie there: 0 at its end, -1 if the disk failed. */
static ssize_t
read_raw(trace_file *file, unsigned char *into) {
  ssize_t n;
  do
    n = read(file->fd, into, BLOCK_BYTES);
  while (n < 0 && errno == EINTR);
  if (n < 0) file->failure = errno;
  if (n > 0) file->n_read += (uint64_t)n;
  tell_progress(file);
  return n;
}

/* The next bytes of the trace in file->text; -1 if the disk failed, or with a problem (owned by the
 * caller). */
static ssize_t
read_text(trace_file *file, char **problem) {
  if (!file->gzip) return read_raw(file, file->text);
  while (!file->gzip_ended) {
    if (file->raw_at == file->raw_n) {
      ssize_t n = read_raw(file, file->raw);
      if (n < 0) return -1;
      file->raw_at = 0;
      file->raw_n = (size_t)n;
    }
    gsize taken = 0, made = 0;
    g_autoptr(GError) error = NULL;
    bool over = file->raw_at == file->raw_n;
    GConverterResult result = g_converter_convert(
        G_CONVERTER(file->gzip), file->raw + file->raw_at, file->raw_n - file->raw_at, file->text,
        BLOCK_BYTES, over ? G_CONVERTER_INPUT_AT_END : 0, &taken, &made, &error);
    file->raw_at += taken;
    file->gzip_ended = result == G_CONVERTER_FINISHED;
    bool wants_more = !over && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT);
    if (result == G_CONVERTER_ERROR && !wants_more) {
      *problem = g_strdup_printf("byte %" PRIu64 " of the compressed file: %s",
                                 file->n_read - (file->raw_n - file->raw_at),
                                 over ? "it ends here, but its contents go on" : error->message);
      return -1;
    }
    file->n_text += made;
    if (file->n_text > MAX(file->n_bytes * TEXT_BYTES_OF_BYTE, TEXT_BYTES_MIN)) {
      *problem = g_strdup_printf("its contents are more than %d times as large as the file",
                                 TEXT_BYTES_OF_BYTE);
      return -1;
    }
    if (made > 0) return (ssize_t)made;
  }
  return 0;
}

/* A tape of a trace that says the same again and again is smaller than a reader believes. */
static bool
needs_trust(const char *path) {
  td_tape *tape = NULL;
  td_error error = {0};
  bool is_refused = td_tape_open(path, &tape, &error) != TD_OK;
  td_error_clear(&error);
  td_tape_close(tape);
  return is_refused;
}

static void
tell_report(const trace_file *file, const char *part, const char *tape,
            const td_import_report *report) {
  g_autofree char *nodes = td_format_many(report->n_nodes, "node", "nodes");
  g_autofree char *passes =
      td_format_many(report->n_graph_tasks, "backward pass", "backward passes");
  g_autofree char *quoted = g_shell_quote(tape);
  const char *name = strpbrk(tape, " '\"\\$`!*?[](){}<>|;&#~\t\n") ? quoted : tape;
  if (report->broken)
    fprintf(stderr, "tapedeck: %s: %s; everything before it was imported\n", file->path,
            report->broken);
  if (report->n_bad) {
    g_autofree char *bad = td_format_many(report->n_bad, "event", "events");
    fprintf(stderr,
            "tapedeck: %s: byte %" PRIu64
            ": a time or number is not valid; %s left out for this reason\n",
            file->path, report->first_bad, bad);
  }
  fprintf(stderr, "tapedeck: imported %s: %s in %s; see it with: tapedeck %s %s%s\n", name, nodes,
          passes, td_command_to_see(), needs_trust(part) ? "--trust " : "", name);
}

typedef struct job {
  trace_file file;
  const char *tape;  /* (borrowed) how the tape will be called */
  td_import *import; /* (owned) */
} job;

/* ---- in the child ---- */

static int
write_tape(const job *self, const char *part) {
  td_error error = {0};
  td_import_report report;
  const trace_file *file = &self->file;
  g_autofree char *source = g_path_get_basename(file->path);
  td_status status = td_import_write(self->import, part, true, source, &report, &error);
  if (status != TD_OK)
    return td_command_file_error(status == TD_IO ? self->tape : file->path, &error);
  (void)td_segments_add(part, TD_SEGMENT_EVENTS, NULL); /* a tape without a table is as good */
  tell_report(file, part, self->tape, &report);
  return TD_EXIT_OK;
}

static int
fill(const char *part, int fd, void *data) {
  job *self = data;
  trace_file *file = &self->file;
  g_autofree char *problem = NULL;
  ssize_t n;
  while ((n = read_text(file, &problem)) > 0 && td_import_feed(self->import, file->text, (size_t)n))
    continue;
  end_progress(file);
  if (problem) td_import_break(self->import, problem);
  return file->failure ? td_command_fail(file->path, "%s", g_strerror(file->failure))
                       : write_tape(self, part);
}

/* ---- in the command ---- */

static int
import(const char *path, const char *tape) {
  job self = {.tape = tape};
  g_autofree char *folder = g_path_get_dirname(tape);
  int status = TD_EXIT_USAGE;
  if (open_trace(&self.file, path)) {
    self.import = td_import_new(folder);
    status = td_confined_child_write(tape, fill, &self);
    td_import_free(self.import);
  }
  trace_file_clear(&self.file);
  return status;
}

/* "trace.json.gz" becomes "trace.tape". */
static char *
default_tape(const char *path) {
  char *name = g_path_get_basename(path);
  static const char *const endings[] = {".gz", ".json", ".pt.trace"};
  for (guint i = 0; i < G_N_ELEMENTS(endings); i++)
    if (g_str_has_suffix(name, endings[i]) && strlen(name) > strlen(endings[i]))
      name[strlen(name) - strlen(endings[i])] = '\0';
  char *tape = g_strconcat(name, ".tape", NULL);
  g_free(name);
  return tape;
}

/* Traces come alone, and dumps together. */
static bool
refuse_files(char **paths) {
  for (char **path = paths; *path; path++) {
    if (td_command_refuse_tape(*path)) return true;
    if (!paths[1] || td_import_is_dump(*path)) continue;
    td_command_fail(*path, "is no dump of PyTorch's flight recorder; a trace is imported alone");
    return true;
  }
  return false;
}

int
td_command_import(int argc, char **argv) {
  g_autofree char *tape = NULL;
  gboolean force = FALSE;
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &tape,
       "Where the tape goes (default: named after the trace, here)", "FILE"},
      {"force", 0, 0, G_OPTION_ARG_NONE, &force, "Overwrite a tape that exists", NULL},
      {0}};
  int status;
  if (!td_command_parse("import", entries, false, 1, -1, &argc, &argv, &status)) return status;
  if (refuse_files(argv + 1)) return TD_EXIT_USAGE;
  if (!tape) tape = default_tape(argv[1]);
  for (char **path = argv + 1; *path; path++)
    if (!td_command_may_write(tape, *path, force)) return TD_EXIT_USAGE;
  return td_import_is_dump(argv[1]) ? td_import_dumps(argv + 1, argc - 1, tape)
                                    : import(argv[1], tape);
}
