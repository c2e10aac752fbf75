/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Recording for the window: who may keep it waiting, and what it hears. This program also plays
 * `tapedeck record`. */
#include "app/common/paths.h"
#include "tests/fixtures/isolated_dirs.h"
#include "ui/window/program_runner.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define OTHERS_LIFE_S 8
#define READY "ready"

/* ---- what is recorded ---- */

static void
make_file(const char *path) {
  FILE *file = fopen(path, "w");
  if (file) fclose(file);
}

/* Another program keeps the pipe open, as TensorBoard does. */
static int
leave_another(void) {
  if (fork() != 0) return 0;
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  sleep(OTHERS_LIFE_S);
  _exit(0);
}

static int
be_loud(void) {
  for (int i = 0; i < 200000; i++)
    fprintf(stderr, "%d of many lines\n", i);
  fputs("the reason\n", stderr);
  return 1;
}

/* Signals wait, as in `tapedeck record`. Its program ignores SIGINT. */
static int
be_stubborn(void) {
  sigset_t signals;
  struct signalfd_siginfo got = {0};
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  int fd = signalfd(-1, &signals, 0);
  make_file(READY);
  while (got.ssi_signo != SIGTERM)
    if (read(fd, &got, sizeof got) < 0) return 2;
  fputs("terminated\n", stderr);
  return 1;
}

static int
play(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*play)(void);
  } parts[] = {{"leave", leave_another}, {"loud", be_loud}, {"stubborn", be_stubborn}};
  int status = 2;
  for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
    if (strcmp(argv[argc - 1], parts[i].name) == 0) status = parts[i].play();
  for (int i = 0; i < argc; i++)
    if (g_str_has_prefix(argv[i], "--output=")) make_file(argv[i] + strlen("--output="));
  return status;
}

/* ---- the recording ---- */

const char *
td_path_program(void) {
  static char path[4096];
  if (!*path && readlink("/proc/self/exe", path, sizeof path - 1) < 0) return NULL;
  return path;
}

static void
store(GObject *source, GAsyncResult *result, gpointer data) {
  *(GAsyncResult **)data = g_object_ref(result);
}

typedef struct Recording {
  GCancellable *cancellable; /* (owned) */
  GAsyncResult *result;      /* (owned) */
  char *folder;              /* (owned) */
} Recording;

static Recording *
start(const char *command) {
  Recording *recording = g_new0(Recording, 1);
  recording->folder = g_dir_make_tmp("test_runner_XXXXXX", NULL);
  recording->cancellable = g_cancellable_new();
  TdProgram program = {.command = command, .folder = recording->folder};
  td_program_record_async(&program, recording->cancellable, store, &recording->result);
  return recording;
}

/* What the program said last, or NULL if it succeeded. There is a tape in any case. */
static char *
finish(Recording *recording) {
  g_autoptr(GError) error = NULL;
  char *problem = NULL;
  while (!recording->result)
    g_main_context_iteration(NULL, TRUE);
  g_autofree char *tape = td_program_record_finish(recording->result, &problem, &error);
  g_assert_no_error(error);
  g_assert_true(g_file_test(tape, G_FILE_TEST_EXISTS));
  g_unlink(tape);
  g_rmdir(recording->folder);
  g_object_unref(recording->result);
  g_object_unref(recording->cancellable);
  g_free(recording->folder);
  g_free(recording);
  return problem;
}

/* Nobody waits for what the program started. */
static void
test_another(void) {
  gint64 began = g_get_monotonic_time();
  g_autofree char *problem = finish(start("leave"));
  g_assert_null(problem);
  g_assert_cmpint(g_get_monotonic_time() - began, <, (OTHERS_LIFE_S - 2) * G_USEC_PER_SEC);
}

/* The last line counts, however much came before. */
static void
test_loud(void) {
  g_autofree char *problem = finish(start("loud"));
  g_assert_cmpstr(problem, ==, "the reason");
}

/* A program that does not mind Ctrl+C is ended a little later. */
static void
test_stubborn(void) {
  Recording *recording = start("stubborn");
  g_autofree char *ready = g_build_filename(recording->folder, READY, NULL);
  while (!g_file_test(ready, G_FILE_TEST_EXISTS))
    g_usleep(1000);
  g_unlink(ready);
  g_cancellable_cancel(recording->cancellable);
  g_autofree char *problem = finish(recording);
  g_assert_cmpstr(problem, ==, "terminated");
}

int
main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "record") == 0) return play(argc, argv);
  g_test_init(&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  g_test_add_func("/app/program-runner/another", test_another);
  g_test_add_func("/app/program-runner/loud", test_loud);
  g_test_add_func("/app/program-runner/stubborn", test_stubborn);
  return g_test_run();
}
