/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/parquet_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY "ready\n"

/* Adds what it prints up to a text, or to the end. Returns whether the text came. A Python may
 * print lines of its own before, as its sitecustomize.py bids. */
static bool
read_words(int fd, const char *up_to, GString *words) {
  char byte;
  while (!up_to || !g_str_has_suffix(words->str, up_to)) {
    ssize_t n = read(fd, &byte, 1);
    if (n > 0) g_string_append_c(words, byte);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
  }
  return true;
}

static void
close_pipes(td_parquet_writer *self) {
  for (size_t i = 0; i < TD_N_TABLES; i++)
    if (self->pipes[i]) fclose(self->pipes[i]);
  memset(self->pipes, 0, sizeof self->pipes);
}

static void
close_all(const int *ends) {
  for (size_t i = 0; i < TD_N_TABLES; i++)
    if (ends[i] >= 0) close(ends[i]);
}

/* The ends to read from. The file of each pipe closes on exec, and these do not. */
static bool
open_pipes(td_parquet_writer *self, int *ends) {
  for (size_t i = 0; i < TD_N_TABLES; i++) {
    int both[2];
    if (pipe2(both, O_CLOEXEC) != 0) return false;
    ends[i] = both[0];
    fcntl(ends[i], F_SETFD, 0);
    self->pipes[i] = fdopen(both[1], "w");
    if (!self->pipes[i]) return false;
  }
  return true;
}

static bool
spawn(td_parquet_writer *self, const char *python, FILE *const *files, const int *ends,
      GError **error) {
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  int said[2];
  g_strv_builder_add_many(words, python, "-c", td_parquet_script, NULL);
  for (size_t i = 0; i < TD_N_TABLES; i++) {
    g_autofree char *from = g_strdup_printf("%d", ends[i]);
    g_autofree char *to = g_strdup_printf("%d", fileno(files[i]));
    fcntl(fileno(files[i]), F_SETFD, 0);
    g_strv_builder_add_many(words, from, to, NULL);
  }
  g_auto(GStrv) argv = g_strv_builder_end(words);
  if (!g_unix_open_pipe(said, FD_CLOEXEC, error)) return false;
  const GSpawnFlags flags =
      G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_LEAVE_DESCRIPTORS_OPEN | G_SPAWN_STDERR_TO_DEV_NULL;
  bool started = g_spawn_async_with_fds(NULL, argv, NULL, flags, NULL, NULL, &self->pid, -1,
                                        said[1], -1, error);
  close(said[1]);
  self->said = said[0];
  if (!started) close(said[0]);
  return started;
}

/* The last of the lines, or NULL. */
static char *
dup_last_line(GString *words) {
  char *text = g_strchomp(words->str);
  const char *newline = strrchr(text, '\n');
  return *text ? g_strdup(newline ? newline + 1 : text) : NULL;
}

/* Reads the rest of what it prints. *problem: the last line, if it did not do all. */
static bool
wait_for_end(td_parquet_writer *self, GString *words, char **problem) {
  int status = 0;
  read_words(self->said, NULL, words);
  close(self->said);
  while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR)
    continue;
  if (status == 0) return true;
  *problem = dup_last_line(words);
  if (!*problem) *problem = g_strdup("Python ended before the files were whole");
  return false;
}

static bool
become_ready(td_parquet_writer *self, char **problem) {
  g_autoptr(GString) words = g_string_new(NULL);
  if (read_words(self->said, READY, words)) return true;
  close_pipes(self);
  wait_for_end(self, words, problem);
  return false;
}

static char *
dup_python(char **problem) {
  const char *own = g_getenv("TAPEDECK_PYTHON"), *name = own && *own ? own : "python3";
  char *path = g_find_program_in_path(name);
  if (!path) *problem = g_strdup_printf("there is no %s", name);
  return path;
}

bool
td_parquet_writer_start(td_parquet_writer *self, FILE *const *files, char **problem) {
  g_autoptr(GError) error = NULL;
  g_autofree char *python = dup_python(problem);
  int ends[TD_N_TABLES];
  memset(ends, -1, sizeof ends);
  *self = (td_parquet_writer){0};
  if (!python) return false;
  signal(SIGPIPE, SIG_IGN);
  bool is_open = open_pipes(self, ends);
  bool has_begun = is_open && spawn(self, python, files, ends, &error);
  if (!has_begun) *problem = g_strdup(error ? error->message : g_strerror(errno));
  close_all(ends);
  if (has_begun && become_ready(self, problem)) return true;
  close_pipes(self);
  return false;
}

bool
td_parquet_writer_end(td_parquet_writer *self, char **problem) {
  g_autoptr(GString) words = g_string_new(NULL);
  close_pipes(self);
  return wait_for_end(self, words, problem);
}
