/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Asking a program that hangs]
 * Problem: frames may only be read with the GIL. A program that hangs may hold it for ever.
 *
 * Trick: a thread of its own waits for the GIL, and the listener waits for that thread, but no
 * longer than a second. Whoever keeps the GIL so long changes no other thread's frames, and its own
 * hardly: then CPython's function for crashes reads them, as faulthandler would. That
 * thread may get the GIL later, finds that nobody wants the answer, and goes. While one waits so,
 * no other one is started. */
#include "engine/control/where.h"

#include "engine/base/alloc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 1
#define TEXT_MAX 12000 /* bytes; three times as many in a line */
#define DUMP "_Py_DumpTracebackThreads"

typedef struct question {
  pthread_mutex_t mutex; /* guards all below */
  pthread_cond_t changed;
  char *text; /* (owned) the answer, or NULL */
  bool over;  /* answered, or the asker has gone: whoever comes second frees */
  td_where_read read;
} question;

static _Atomic bool is_waiting; /* a thread still waits for the GIL for an earlier question */

static void
question_free(question *self) {
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->mutex);
  free(self->text);
  free(self);
}

/* The whole lines that fit. */
static char *
dup_lines(const char *text, size_t n) {
  n = TD_MIN(n, TEXT_MAX);
  if (n == TEXT_MAX)
    while (n > 0 && text[n - 1] != '\n')
      n--;
  return td_format("%.*s", (int)n, text);
}

/* Nobody else writes the answer, and the asker reads it once this is over. */
static void *
ask_main(void *data) {
  question *self = data;
  char *text = self->read();
  if (text) self->text = dup_lines(text, strlen(text));
  free(text);
  atomic_store_explicit(&is_waiting, false, memory_order_relaxed);
  pthread_mutex_lock(&self->mutex);
  bool is_unwanted = self->over;
  self->over = true;
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->mutex);
  if (is_unwanted) question_free(self);
  return NULL;
}

static bool
start_thread(question *self) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool started = pthread_create(&thread, &attributes, ask_main, self) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

/* What where.py says, or NULL: the GIL did not become free. */
static char *
ask_with_gil(td_where_read read) {
  struct timespec until;
  if (atomic_exchange_explicit(&is_waiting, true, memory_order_relaxed)) return NULL;
  question *self = TD_NEW(question);
  self->read = read;
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->changed, NULL);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_S;
  int late = start_thread(self) ? 0 : -1;
  if (late) atomic_store_explicit(&is_waiting, false, memory_order_relaxed);
  pthread_mutex_lock(&self->mutex);
  while (!late && !self->over)
    late = pthread_cond_timedwait(&self->changed, &self->mutex, &until);
  bool is_answered = self->over;
  self->over = true;
  char *text = NULL;
  if (is_answered) {
    text = self->text;
    self->text = NULL;
  }
  pthread_mutex_unlock(&self->mutex);
  if (is_answered || late < 0) question_free(self);
  return text;
}

/* As faulthandler writes it. */
static char *
read_without_gil(void) {
  const char *(*dump)(int fd, void *interpreter, void *thread) =
      (const char *(*)(int, void *, void *))dlsym(RTLD_DEFAULT, DUMP);
  int fd = dump ? memfd_create("tapedeck-where", MFD_CLOEXEC) : -1;
  char *bytes = TD_NEW_N(char, TEXT_MAX + 1), *text = NULL;
  if (fd >= 0 && !dump(fd, NULL, NULL)) {
    ssize_t n = pread(fd, bytes, TEXT_MAX, 0);
    if (n > 0) text = dup_lines(bytes, (size_t)n);
  }
  if (fd >= 0) close(fd);
  free(bytes);
  return text;
}

void
td_where_add(td_line_text *line, td_where_read read) {
  char *text = read ? ask_with_gil(read) : NULL;
  bool is_held = read && !text;
  if (is_held) text = read_without_gil();
  td_line_add(line, "text", text);
  td_line_add(line, "held", is_held ? "1" : NULL);
  if (!text)
    td_line_add(line, "problem",
                read ? "its Python does not say" : "there is no Python in this program");
  free(text);
}

/* ---- who asks ---- */

bool
td_where_answer(const td_line *command, td_link *link, void (*flush)(void),
                void (*add)(td_line_text *line)) {
  td_line_text message;
  if (!td_line_is(command, "where")) return false;
  flush();
  td_line_begin(&message, "where");
  add(&message);
  td_link_report(link, &message);
  td_line_text_fini(&message);
  return true;
}

static bool (*own_hear)(const td_line *command);

static void
command_cb(const td_line *command, void *unused) {
  own_hear(command);
}

void
td_where_listen(td_link *link, bool (*hear)(const td_line *command)) {
  static const td_link_listener listener = {.command = command_cb};
  td_error error = {0};
  own_hear = hear;
  td_link_listen(link, &listener, &error);
  td_error_clear(&error);
}
