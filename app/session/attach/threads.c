/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/threads.h"

#include <stdio.h>
#include <string.h>

#define NO_FRAME "<no Python frame>" /* so says CPython */

static void
thread_free_cb(gpointer data) {
  td_attach_thread *thread = data;
  g_free(thread->name);
  g_free(thread->doing);
  g_ptr_array_unref(thread->frames);
  g_ptr_array_unref(thread->lines);
  g_free(thread);
}

td_attach_threads *
td_attach_threads_new(void) {
  td_attach_threads *self = g_new0(td_attach_threads, 1);
  self->list = g_ptr_array_new_with_free_func(thread_free_cb);
  return self;
}

void
td_attach_threads_free(td_attach_threads *self) {
  g_ptr_array_unref(self->list);
  g_free(self->problem);
  g_free(self);
}

td_attach_thread *
td_attach_threads_add(td_attach_threads *self, const char *name) {
  td_attach_thread *thread = g_new0(td_attach_thread, 1);
  thread->name = g_strdup(name);
  thread->wait = TD_N_ATTACH_WAITS;
  thread->frames = g_ptr_array_new_with_free_func(g_free);
  thread->lines = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(self->list, thread);
  return thread;
}

td_attach_thread *
td_attach_threads_find(const td_attach_threads *self, guint32 lwp) {
  for (guint i = 0; lwp && i < self->list->len; i++) {
    td_attach_thread *thread = self->list->pdata[i];
    if (thread->lwp == lwp) return thread;
  }
  return NULL;
}

/* No function that waits is on its stack. */
static const char *
motion_words(td_motion motion) {
  switch (motion) {
  case TD_MOTION_RUNS:
    return "computes";
  case TD_MOTION_SLEEPS:
    return "sleeps; what it waits for is not known";
  default:
    return "computes or sleeps; the kernel does not say which";
  }
}

char *
td_attach_thread_words(const td_attach_thread *thread) {
  const char *words = td_attach_wait_words(thread->wait);
  return words ? g_strdup_printf("waits for %s", words) : g_strdup(motion_words(thread->motion));
}

/* `  File "FILE", line LINE in FUNCTION`, as CPython writes it in a crash. */
static char *
read_crash_line(const char *line) {
  static const char file[] = "  File \"", middle[] = "\", line ", in[] = " in ";
  const char *end = g_str_has_prefix(line, file) ? g_strrstr(line, middle) : NULL;
  if (!end) return NULL;
  const char *number = end + strlen(middle), *function = strstr(number, in);
  if (!function) return NULL;
  line += strlen(file);
  return g_strdup_printf("%.*s:%.*s %s", (int)(end - line), line, (int)(function - number), number,
                         function + strlen(in));
}

/* "thread NAME", or "Thread 0x... (most recent call first):". */
static char *
read_head(const char *line) {
  if (g_str_has_prefix(line, "thread ")) return g_strdup(line + strlen("thread "));
  if (g_str_has_prefix(line, "Current thread ")) line += strlen("Current ");
  const char *name = g_ascii_strncasecmp(line, "thread ", 7) == 0 ? line + 7 : NULL;
  return name ? g_strndup(name, strcspn(name, " ")) : NULL;
}

void
td_attach_threads_read(td_attach_threads *self, const char *text) {
  td_attach_thread *thread = NULL;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    g_autofree char *head = *lines[i] == ' ' ? NULL : read_head(lines[i]);
    if (head) {
      thread = td_attach_threads_add(self, head);
      continue;
    }
    char *line = read_crash_line(lines[i]);
    if (!line && strcmp(g_strchug(lines[i]), NO_FRAME) == 0 && thread) {
      g_ptr_array_remove_index(self->list, self->list->len - 1);
      thread = NULL;
    } else if (!line && *lines[i]) {
      line = g_strdup(lines[i]);
    }
    if (line && thread)
      g_ptr_array_add(thread->lines, line);
    else
      g_free(line);
  }
}
