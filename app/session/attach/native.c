/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/native.h"

#include "app/session/attach/gdb.h"

#include <string.h>

typedef struct hearing {
  pid_t pid;
  const td_motions *before, *after; /* (borrowed) */
  td_attach_threads *threads;
} hearing;

#define BETWEEN_LOOKS_US 100000

/* A thread's own name, such as pt_autograd_0, unless it is that of the process. */
static char *
dup_name(pid_t pid, guint32 lwp) {
  g_autofree char *path = g_strdup_printf("/proc/%d/task/%u/comm", (int)pid, lwp);
  g_autofree char *main_path = g_strdup_printf("/proc/%d/comm", (int)pid);
  g_autofree char *name = NULL, *main_name = NULL;
  if ((pid_t)lwp == pid) return g_strdup("main");
  if (!g_file_get_contents(path, &name, NULL, NULL)) return g_strdup_printf("thread %u", lwp);
  g_file_get_contents(main_path, &main_name, NULL, NULL);
  g_autofree char *valid = g_utf8_make_valid(g_strchomp(name), -1);
  if (main_name && strcmp(g_strchomp(main_name), name) == 0)
    return g_strdup_printf("thread %u", lwp);
  return g_strdup_printf("thread %u %s", lwp, valid);
}

static void
take_all(const td_line *line, const char *key, GPtrArray *array) {
  for (unsigned i = 0; i < line->n_fields; i++)
    if (strcmp(line->fields[i].key, key) == 0)
      g_ptr_array_add(array, g_utf8_make_valid(line->fields[i].value, -1));
}

static guint64
find_u64(const td_line *line, const char *key) {
  const char *text = td_line_find(line, key);
  return text ? g_ascii_strtoull(text, NULL, 10) : 0;
}

static void
hear_thread(hearing *self, const td_line *line) {
  guint32 lwp = (guint32)find_u64(line, "lwp");
  g_autofree char *name = dup_name(self->pid, lwp);
  td_attach_thread *thread = td_attach_threads_add(self->threads, name);
  thread->lwp = lwp;
  thread->ident = find_u64(line, "ident");
  thread->owner = (guint32)find_u64(line, "owner");
  take_all(line, "frame", thread->frames);
  thread->is_seen = thread->frames->len > 0;
  thread->wait = td_attach_wait_of(thread->frames);
  thread->depth = td_attach_wait_depth(thread->frames);
  thread->motion = td_motion_between(self->before, self->after, lwp);
}

static void
hear_python(hearing *self, const td_line *line) {
  guint64 ident = find_u64(line, "ident");
  for (guint i = 0; i < self->threads->list->len; i++) {
    td_attach_thread *thread = self->threads->list->pdata[i];
    if (ident == 0 || thread->ident != ident) continue;
    take_all(line, "line", thread->lines);
    return;
  }
}

static void
hear_cb(const td_line *line, void *data) {
  hearing *self = data;
  if (td_line_is(line, "thread")) hear_thread(self, line);
  if (td_line_is(line, "python")) hear_python(self, line);
  td_attach_thread *holder =
      td_line_is(line, "gil")
          ? td_attach_threads_find(self->threads, (guint32)find_u64(line, "lwp"))
          : NULL;
  if (holder) holder->has_gil = true;
  if (!td_line_is(line, "problem")) return;
  g_free(self->threads->problem);
  const char *text = td_line_find(line, "text");
  self->threads->problem = g_utf8_make_valid(text ? text : "", -1);
}

td_attach_threads *
td_attach_native_read(pid_t pid, char **problem) {
  g_autoptr(td_motions) before = td_motion_look(pid);
  g_usleep(BETWEEN_LOOKS_US);
  g_autoptr(td_motions) after = td_motion_look(pid);
  hearing self = {.pid = pid, .before = before, .after = after, .threads = td_attach_threads_new()};
  if (td_gdb_look(pid, hear_cb, &self, problem)) return self.threads;
  td_attach_threads_free(self.threads);
  return NULL;
}
