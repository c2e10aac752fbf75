/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The threads of a program. It said itself what they do, or gdb looked. Main thread. */
#pragma once

#include "app/session/attach/motion.h"
#include "app/session/attach/waits.h"

#include <stdbool.h>
#include <sys/types.h>

/* One thread. What is not known is 0, NULL or empty. */
typedef struct td_attach_thread {
  guint32 lwp;   /* its number for the kernel */
  guint64 ident; /* its number for Python */
  char *name;    /* (owned) as people know it */
  bool is_seen;  /* its stack in C was read: wait, frames and owner are known */
  td_attach_wait wait;
  td_motion motion; /* just before its stack was read */
  guint32
      depth; /* backward passes on its stack, or inside each other where it works, by the tape */
  guint32 owner; /* the thread that has the lock it waits for */
  bool has_gil;
  char *doing;       /* (owned) what it does in the engine, by the tape, or NULL */
  GPtrArray *frames; /* (owned) of char *, "FUNCTION LIBRARY", the innermost first */
  GPtrArray *lines;  /* (owned) of char *, "FILE:LINE FUNCTION", the innermost first */
} td_attach_thread;

typedef struct td_attach_threads {
  GPtrArray *list; /* (owned) of td_attach_thread, the main thread first */
  bool is_held;    /* one of them keeps the GIL, and it is not known which */
  gint64 still_ns; /* since the last event on the tape */
  char *problem;   /* (owned) why there are no lines of Python, or NULL */
} td_attach_threads;

td_attach_threads *td_attach_threads_new(void);
void td_attach_threads_free(td_attach_threads *self);
td_attach_thread *td_attach_threads_add(td_attach_threads *self, const char *name);

/* td_attach_threads_find returns the thread with that number for the kernel, or NULL. */
td_attach_thread *td_attach_threads_find(const td_attach_threads *self, guint32 lwp);

/* td_attach_thread_words says what a thread whose stack was read does: "waits for a lock",
 * "computes", or that it is not known. The caller frees. */
char *td_attach_thread_words(const td_attach_thread *thread);

/* td_attach_threads_read takes what a program says of itself: the `text` of a `where` line. A
 * thread that CPython knows and that has no line is not added: it asks for somebody else. */
void td_attach_threads_read(td_attach_threads *self, const char *text);
