/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Asking a program that hangs]
 * Problem: frames may only be read with the GIL. A program that hangs may hold it for ever.
 *
 * Trick: a thread of its own waits for the GIL, and the listener waits for that thread, but no
 * longer than a second. Whoever keeps the GIL so long changes no other thread's frames, and its own
 * hardly: then CPython's function for crashes reads them, as faulthandler would. That
 * thread may get the GIL later, finds that nobody wants the answer, and goes. */
#include "engine/probe/where.h"

#include "engine/base/alloc.h"
#include "engine/probe/python.h"

#include <dlfcn.h>
#include <pthread.h>
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
} question;

static const td_python *python;
static _Thread_local question *own; /* of the thread that runs where.py */

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

/* tell(text) */
static void *
tell(void *self, void *const *arguments, td_python_size n) {
  const char *text = n == 1 ? python->PyUnicode_AsUTF8(arguments[0]) : NULL;
  if (text && !own->text) own->text = dup_lines(text, strlen(text));
  return python->Py_BuildValue("");
}

static td_python_method methods[] = {{"tell", tell, TD_PYTHON_FASTCALL, NULL}, {0}};

static void
ask_python(question *self) {
  char *trouble = NULL;
  own = self;
  int state = python->PyGILState_Ensure();
  void *names = td_python_run(python, td_python_where, "<tapedeck where.py>", methods, &trouble);
  if (names) python->Py_DecRef(names);
  python->PyGILState_Release(state);
  free(trouble);
}

/* Nobody else writes the answer, and the asker reads it once this is over. */
static void *
ask_main(void *data) {
  question *self = data;
  ask_python(self);
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
ask_with_gil(void) {
  struct timespec until;
  question *self = TD_NEW(question);
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->changed, NULL);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_S;
  int late = start_thread(self) ? 0 : -1;
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
td_where_add(td_line_text *line) {
  python = td_python_find();
  char *text = python ? ask_with_gil() : NULL;
  bool is_held = python && !text;
  if (is_held) text = read_without_gil();
  td_line_add(line, "text", text);
  td_line_add(line, "held", is_held ? "1" : NULL);
  if (!text)
    td_line_add(line, "problem",
                python ? "its Python does not say" : "there is no Python in this program");
  free(text);
}
