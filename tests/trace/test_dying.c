/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A deadly signal comes while a thread of the program holds a lock of malloc, or the lock of the
 * rings. The recorder finishes the tape without either. */
#include "engine/events/emit.h"
#include "engine/trace/recorder.h"
#include "engine/trace/tape.h"
#include "tests/fixtures/assert_ok.h"

#include <glib/gstdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000
#define STATUS 143

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_MALLOC 0
#else
#define HAS_OWN_MALLOC 1

/* glibc's names for what it does itself. */
void *__libc_malloc(size_t n_bytes);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t n_bytes);
void __libc_free(void *block);

static _Atomic bool is_locked; /* by the thread that dies, and for ever */
static pid_t dying_thread;

static void
take_lock(void) {
  while (atomic_load(&is_locked) && gettid() != dying_thread)
    pause();
}

#define EXPORT __attribute__((visibility("default")))

EXPORT void *
malloc(size_t n_bytes) {
  take_lock();
  return __libc_malloc(n_bytes);
}

EXPORT void *
calloc(size_t n, size_t size) {
  take_lock();
  return __libc_calloc(n, size);
}

EXPORT void *
realloc(void *block, size_t n_bytes) {
  take_lock();
  return __libc_realloc(block, n_bytes);
}

EXPORT void
free(void *block) {
  take_lock();
  __libc_free(block);
}

static gpointer
emit_and_end(gpointer data) {
  TD_EMIT(step, .iteration = 1);
  return NULL;
}

/* What the handler of a signal does, in a process of its own. */
static void
die(const char *path) {
  td_recorder *recorder;
  td_error error = {0};
  td_recorder_options options = {.engine = "tapedeck", .version = "test", .source = "test_dying"};
  assert_ok(td_recorder_start(path, true, &options, &recorder, &error), &error);
  g_thread_join(g_thread_new("gone", emit_and_end, NULL)); /* its ring is there to be freed */
  for (uint32_t i = 0; i < 2000000; i++)
    TD_EMIT(outstanding, .graph_task = (uint32_t)g_random_int(), .value = i);
  dying_thread = gettid();
  atomic_store(&is_locked, true);
  td_recorder_finish_dying(recorder, STATUS, PATIENCE_MS);
  _exit(0);
}
#endif

static void
test_inside_malloc(void) {
#if HAS_OWN_MALLOC
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-test-XXXXXX", NULL);
  close(g_mkstemp(path));
  pid_t child = fork();
  if (child == 0) {
    alarm(PATIENCE_MS / 2000); /* the recorder does not use up the handler's patience */
    die(path);
  }
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFEXITED(status));
  td_tape *tape;
  td_error error = {0};
  assert_ok(td_tape_open(path, &tape, &error), &error);
  const td_tape_info *info = td_tape_info_get(tape);
  g_assert_true(info->complete);
  g_assert_cmpuint(info->n_by_kind[TD_EVENT_outstanding], ==, 2000000);
  g_assert_cmpuint(info->n_by_kind[TD_EVENT_session_end], ==, 1);
  td_tape_close(tape);
  g_unlink(path);
#else
  g_test_skip("the sanitizers have a malloc of their own");
#endif
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/dying/inside-malloc", test_inside_malloc);
  return g_test_run();
}
