/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/session_list.h"

#include "app/common/process_facts.h"
#include "app/session/session_places.h"
#include "engine/control/link.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MS 2000
#define PROGRAMS_MAX 1024 /* of one hub */
#define RUNNER "/tapedeck/runner.py "

typedef struct listing {
  GPtrArray *asks;     /* (owned) of ask: hubs that still answer */
  GPtrArray *programs; /* (owned) of td_session_program, or NULL: returned */
  guint patience;      /* source, or 0 */
} listing;

/* A hub that was asked. */
typedef struct ask {
  GTask *task; /* (borrowed) */
  char *path;  /* (owned) */
  int fd;      /* (owned) */
  guint reading, n_programs;
  td_line_reader reader;
} ask;

static void
ask_free(gpointer data) {
  ask *self = data;
  if (self->reading) g_source_remove(self->reading);
  if (self->fd >= 0) close(self->fd);
  td_line_reader_fini(&self->reader);
  g_free(self->path);
  g_free(self);
}

static void
program_free(gpointer data) {
  td_session_program *program = data;
  g_free(program->session);
  g_free(program->tape);
  g_free(program->command);
  g_free(program);
}

static void
listing_free(gpointer data) {
  listing *self = data;
  if (self->patience) g_source_remove(self->patience);
  g_ptr_array_unref(self->asks);
  g_clear_pointer(&self->programs, g_ptr_array_unref);
  g_free(self);
}

/* A process whose age is not known comes last. */
static int
compare_ages(gconstpointer left, gconstpointer right) {
  const td_session_program *a = *(td_session_program *const *)left;
  const td_session_program *b = *(td_session_program *const *)right;
  guint64 ages[] = {(guint64)a->seconds, (guint64)b->seconds};
  if (ages[0] != ages[1]) return ages[0] < ages[1] ? -1 : 1;
  return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void
conclude(GTask *task) {
  listing *self = g_task_get_task_data(task);
  if (self->patience) g_source_remove(self->patience);
  self->patience = 0;
  g_ptr_array_set_size(self->asks, 0);
  g_ptr_array_sort(self->programs, compare_ages);
  g_task_return_pointer(task, g_steal_pointer(&self->programs), (GDestroyNotify)g_ptr_array_unref);
  g_object_unref(task);
}

static gboolean
patience_over(gpointer task) {
  ((listing *)g_task_get_task_data(task))->patience = 0;
  conclude(task);
  return G_SOURCE_REMOVE;
}

/* Of `tapedeck run`, people know the command that they typed, not the Python that it starts. */
static char *
dup_command(pid_t pid) {
  g_autofree char *own = td_process_dup_command(pid);
  pid_t parent = own && strstr(own, RUNNER) ? td_process_get_parent(pid) : 0;
  char *typed = parent ? td_process_dup_command(parent) : NULL;
  return typed ? typed : g_steal_pointer(&own);
}

static void
add_program(ask *self, const td_line *line) {
  listing *listing = g_task_get_task_data(self->task);
  guint32 pid, n_stopped = 0;
  const char *tape = td_line_find(line, "path");
  if (!td_line_find_u32(line, "pid", &pid) || pid == 0 || pid > G_MAXINT32) return;
  td_line_find_u32(line, "stopped", &n_stopped);
  td_session_program *made = g_new(td_session_program, 1);
  *made = (td_session_program){.session = g_strdup(self->path),
                               .pid = pid,
                               .tape = g_strdup(tape),
                               .command = dup_command((pid_t)pid),
                               .seconds = td_process_get_seconds((pid_t)pid),
                               .can_stop = td_line_flag(line, "live"),
                               .n_stopped = n_stopped};
  g_ptr_array_add(listing->programs, made);
}

/* False: the answer is over. */
static bool
hear(ask *self, const td_line *line) {
  if (!td_line_is(line, "target") || self->n_programs++ >= PROGRAMS_MAX) return false;
  add_program(self, line);
  return true;
}

static bool
receive(ask *self) {
  char bytes[4096];
  td_line line;
  td_line_result result;
  ssize_t n = recv(self->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  td_line_reader_add(&self->reader, bytes, (size_t)n);
  while ((result = td_line_reader_take(&self->reader, &line)) == TD_LINE_READY) {
    bool goes_on = hear(self, &line);
    td_line_fini(&line);
    if (!goes_on) return false;
  }
  return result != TD_LINE_BAD;
}

static gboolean
read_cb(gint fd, GIOCondition condition, gpointer data) {
  ask *self = data;
  GTask *task = self->task;
  listing *listing = g_task_get_task_data(task);
  if (receive(self)) return G_SOURCE_CONTINUE;
  self->reading = 0;
  g_ptr_array_remove_fast(listing->asks, self);
  if (listing->asks->len == 0) conclude(task);
  return G_SOURCE_REMOVE;
}

/* A hub with a full queue of peers is one that does not answer. */
static bool
connect_to(const char *path, int fd) {
  static const char question[] = "list\n";
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path)
    return false;
  if (fd < 0 || connect(fd, (const void *)&address, sizeof address) != 0) return false;
  ssize_t n = (ssize_t)strlen(question);
  return td_link_is_own_user(fd) && send(fd, question, (size_t)n, MSG_NOSIGNAL) == n;
}

static void
ask_hub(GTask *task, const char *path) {
  listing *listing = g_task_get_task_data(task);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (!connect_to(path, fd)) {
    if (fd >= 0) close(fd);
    return;
  }
  ask *self = g_new(ask, 1);
  *self = (ask){.task = task, .path = g_strdup(path), .fd = fd};
  self->reading = g_unix_fd_add(fd, G_IO_IN | G_IO_HUP | G_IO_ERR, read_cb, self);
  g_ptr_array_add(listing->asks, self);
}

void
td_session_list_async(GCancellable *cancellable, GAsyncReadyCallback done, gpointer data) {
  g_auto(GStrv) places = td_session_places_dup();
  GTask *task = g_task_new(NULL, cancellable, done, data);
  listing *self = g_new0(listing, 1);
  self->asks = g_ptr_array_new_with_free_func(ask_free);
  self->programs = g_ptr_array_new_with_free_func(program_free);
  g_task_set_task_data(task, self, listing_free);
  for (char **place = places; *place; place++) {
    g_auto(GStrv) paths = td_session_places_find(*place);
    for (char **path = paths; *path; path++)
      ask_hub(task, *path);
  }
  self->patience = g_timeout_add(self->asks->len ? PATIENCE_MS : 0, patience_over, task);
}

GPtrArray *
td_session_list_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}

typedef struct waiting {
  GMainLoop *loop;
  GPtrArray *programs; /* (owned) */
} waiting;

static void
listed_cb(GObject *source, GAsyncResult *result, gpointer data) {
  waiting *self = data;
  self->programs = td_session_list_finish(result, NULL);
  g_main_loop_quit(self->loop);
}

GPtrArray *
td_session_list(void) {
  waiting self = {.loop = g_main_loop_new(NULL, FALSE)};
  td_session_list_async(NULL, listed_cb, &self);
  g_main_loop_run(self.loop);
  g_main_loop_unref(self.loop);
  return self.programs;
}

bool
td_session_program_is_of(const td_session_program *program, pid_t pid) {
  pid_t at = (pid_t)program->pid;
  while (at > 1 && at != pid)
    at = td_process_get_parent(at);
  return at == pid;
}
