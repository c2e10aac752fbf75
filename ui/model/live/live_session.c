/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/live/live_session.h"

#include "engine/control/line.h"
#include "engine/control/link.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct _TdLiveSession {
  GObject parent_instance;
  int fd; /* (owned), -1: hung up */
  uint32_t process;
  guint reading; /* source, or 0 */
  td_line_reader reader;
  GPtrArray *stops; /* (owned) of stop, the latest last */
  gboolean ended, lost, paused, released;
  gboolean watched;  /* the program has no gate */
  gboolean has_gate; /* it said what its gate waits for */
  uint32_t chosen;   /* node, or TD_NONE */
  GStrv conditions;  /* (owned) */
  GArray *held;      /* (owned) uint32_t */
};

enum { SIGNAL_CHANGED, SIGNAL_STOPPED, SIGNAL_ENDED, SIGNAL_ANSWERED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TdLiveSession, td_live_session, G_TYPE_OBJECT)

/* A TdLiveStop and the line that its strings are in. */
typedef struct stop {
  TdLiveStop facts;
  td_line line; /* (owned) */
} stop;

static void
stop_free(gpointer data) {
  td_line_fini(&((stop *)data)->line);
  g_free(data);
}

static void
hang_up(TdLiveSession *self) {
  if (self->reading) g_source_remove(self->reading);
  self->reading = 0;
  if (self->fd >= 0) close(self->fd);
  self->fd = -1;
}

static void
td_live_session_finalize(GObject *object) {
  TdLiveSession *self = TD_LIVE_SESSION(object);
  hang_up(self);
  td_line_reader_fini(&self->reader);
  g_ptr_array_unref(self->stops);
  g_strfreev(self->conditions);
  g_array_unref(self->held);
  G_OBJECT_CLASS(td_live_session_parent_class)->finalize(object);
}

static guint
new_signal(const char *name) {
  return g_signal_new(name, TD_TYPE_LIVE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                      G_TYPE_NONE, 0);
}

static void
td_live_session_class_init(TdLiveSessionClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_live_session_finalize;
  signals[SIGNAL_CHANGED] = new_signal("changed");
  signals[SIGNAL_STOPPED] = new_signal("stopped");
  signals[SIGNAL_ENDED] = new_signal("ended");
  signals[SIGNAL_ANSWERED] = g_signal_new("answered", TD_TYPE_LIVE_SESSION, G_SIGNAL_RUN_LAST, 0,
                                          NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
td_live_session_init(TdLiveSession *self) {
  self->fd = -1;
  self->chosen = TD_NONE;
  self->stops = g_ptr_array_new_with_free_func(stop_free);
  self->conditions = g_new0(char *, 1);
  self->held = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static void
changed(TdLiveSession *self) {
  g_signal_emit(self, signals[SIGNAL_CHANGED], 0);
}

static void
forget_stop(TdLiveSession *self, uint32_t thread) {
  for (guint i = 0; i < self->stops->len; i++)
    if (((stop *)self->stops->pdata[i])->facts.thread == thread)
      g_ptr_array_remove_index(self->stops, i--);
}

/* Takes the line where it is kept. */
static gboolean
hear_stopped(TdLiveSession *self, td_line *line) {
  stop *made = g_new0(stop, 1);
  made->facts.node = TD_NONE;
  made->line = *line;
  if (!td_line_find_u32(line, "thread", &made->facts.thread)) {
    g_free(made);
    return FALSE;
  }
  td_line_find_u32(line, "node", &made->facts.node);
  const char *kind = td_line_find(line, "kind"), *reason = td_line_find(line, "reason");
  made->facts.kind = kind ? kind : "";
  made->facts.reason = reason ? reason : "";
  made->facts.name = td_line_find(line, "name");
  made->facts.condition = td_line_find(line, "condition");
  forget_stop(self, made->facts.thread);
  g_ptr_array_add(self->stops, made);
  changed(self);
  g_signal_emit(self, signals[SIGNAL_STOPPED], 0);
  return TRUE;
}

/* A program that waits for nobody. If it is so when the window comes, somebody let it go. */
static gboolean
is_free(TdLiveSession *self) {
  return !self->paused && !self->conditions[0] && !self->held->len;
}

static void
hear_gate(TdLiveSession *self, const td_line *line) {
  g_autoptr(GStrvBuilder) conditions = g_strv_builder_new();
  g_array_set_size(self->held, 0);
  for (unsigned i = 0; i < line->n_fields; i++) {
    const td_line_field *field = &line->fields[i];
    guint64 thread;
    if (strcmp(field->key, "break") == 0) g_strv_builder_add(conditions, field->value);
    if (strcmp(field->key, "hold") == 0 &&
        g_ascii_string_to_unsigned(field->value, 10, 0, G_MAXUINT32, &thread, NULL))
      g_array_append_vals(self->held, &(uint32_t){(uint32_t)thread}, 1);
  }
  g_strfreev(self->conditions);
  self->conditions = g_strv_builder_end(conditions);
  self->paused = td_line_flag(line, "paused");
  if (self->paused) self->released = FALSE;
  if (!self->has_gate) self->released = is_free(self);
  self->has_gate = TRUE;
  changed(self);
}

static void
hear_target(TdLiveSession *self, const td_line *line) {
  self->watched = !td_line_flag(line, "live");
  changed(self);
}

static void
end(TdLiveSession *self) {
  if (self->ended) return;
  self->ended = TRUE;
  g_ptr_array_set_size(self->stops, 0);
  hang_up(self);
  changed(self);
  g_signal_emit(self, signals[SIGNAL_ENDED], 0);
}

static void
hear_answer(TdLiveSession *self, const td_line *line) {
  const char *reason = td_line_find(line, "reason");
  if (td_line_is(line, "chosen")) td_line_find_u32(line, "node", &self->chosen);
  changed(self);
  g_signal_emit(self, signals[SIGNAL_ANSWERED], 0, reason ? reason : "");
}

/* TRUE: the line was taken. */
static gboolean
hear(TdLiveSession *self, td_line *line) {
  uint32_t process = 0, thread = TD_NONE;
  if (!td_line_find_u32(line, "pid", &process) || process != self->process) return FALSE;
  if (td_line_is(line, "stopped")) return hear_stopped(self, line);
  if (td_line_is(line, "target")) hear_target(self, line);
  if (td_line_is(line, "gate")) hear_gate(self, line);
  if (td_line_is(line, "chosen") || td_line_is(line, "refused")) hear_answer(self, line);
  if (td_line_is(line, "over")) end(self);
  if (td_line_is(line, "running") && td_line_find_u32(line, "thread", &thread)) {
    forget_stop(self, thread);
    self->chosen = TD_NONE;
    changed(self);
  }
  return FALSE;
}

static gboolean
receive(TdLiveSession *self) {
  char bytes[4096];
  td_line line;
  td_line_result result = TD_LINE_NONE;
  ssize_t n = recv(self->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return TRUE;
  if (n <= 0) return FALSE;
  td_line_reader_add(&self->reader, bytes, (size_t)n);
  while (!self->ended && (result = td_line_reader_take(&self->reader, &line)) == TD_LINE_READY)
    if (!hear(self, &line)) td_line_fini(&line);
  return result != TD_LINE_BAD;
}

static gboolean
read_cb(gint fd, GIOCondition condition, gpointer data) {
  g_autoptr(TdLiveSession) self = g_object_ref(data);
  gboolean fine = receive(self);
  if (self->ended) return G_SOURCE_REMOVE;
  if (fine) return G_SOURCE_CONTINUE;
  self->reading = 0;
  self->lost = TRUE;
  end(self);
  return G_SOURCE_REMOVE;
}

static void
send_line(TdLiveSession *self, td_line_text *text) {
  td_line_add_number(text, "pid", self->process);
  if (self->fd >= 0 && send(self->fd, text->bytes, text->n_bytes, MSG_NOSIGNAL) < 0)
    g_debug("the hub does not hear: %s", g_strerror(errno)); /* reading will tell */
  td_line_text_fini(text);
}

static void
say(TdLiveSession *self, const char *word) {
  td_line_text text;
  td_line_begin(&text, word);
  send_line(self, &text);
}

static void
say_thread(TdLiveSession *self, const char *word, uint32_t thread) {
  td_line_text text;
  td_line_begin(&text, word);
  if (thread != TD_NONE) td_line_add_number(&text, "thread", thread);
  send_line(self, &text);
}

static gboolean
connect_to(TdLiveSession *self, const char *path, GError **error) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  gboolean fits =
      g_strlcpy(address.sun_path, path, sizeof address.sun_path) < sizeof address.sun_path;
  self->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  gboolean connects =
      fits && self->fd >= 0 && connect(self->fd, (const void *)&address, sizeof address) == 0;
  const char *problem = fits ? g_strerror(errno) : "the path is too long";
  if (connects && td_link_is_own_user(self->fd)) return TRUE;
  g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED,
                      connects ? "it belongs to another user" : problem);
  return FALSE;
}

TdLiveSession *
td_live_session_new(const char *path, uint32_t process, GError **error) {
  g_autoptr(TdLiveSession) self = g_object_new(TD_TYPE_LIVE_SESSION, NULL);
  self->process = process;
  if (!connect_to(self, path, error)) return NULL;
  self->reading = g_unix_fd_add(self->fd, G_IO_IN | G_IO_HUP | G_IO_ERR, read_cb, self);
  say(self, "view");
  return g_steal_pointer(&self);
}

TdLiveState
td_live_session_get_state(TdLiveSession *self) {
  if (self->ended) return TD_LIVE_ENDED;
  if (self->watched) return TD_LIVE_WATCHED;
  if (self->stops->len) return TD_LIVE_STOPPED;
  return self->released ? TD_LIVE_DETACHED : TD_LIVE_RUNNING;
}

gboolean
td_live_session_is_lost(TdLiveSession *self) {
  return self->lost;
}

const TdLiveStop *
td_live_session_get_stop(TdLiveSession *self) {
  guint n = self->stops->len;
  return n ? &((stop *)self->stops->pdata[n - 1])->facts : NULL;
}

const TdLiveStop *
td_live_session_find_stop(TdLiveSession *self, uint32_t thread) {
  for (guint i = 0; i < self->stops->len; i++) {
    const TdLiveStop *facts = &((stop *)self->stops->pdata[i])->facts;
    if (facts->thread == thread) return facts;
  }
  return NULL;
}

guint
td_live_session_get_n_stopped(TdLiveSession *self) {
  return self->stops->len;
}

uint32_t
td_live_session_get_chosen(TdLiveSession *self) {
  return self->chosen;
}

const char *const *
td_live_session_get_conditions(TdLiveSession *self) {
  return (const char *const *)self->conditions;
}

gboolean
td_live_session_has_condition(TdLiveSession *self, const char *condition) {
  return g_strv_contains((const char *const *)self->conditions, condition);
}

gboolean
td_live_session_is_held(TdLiveSession *self, uint32_t thread) {
  for (guint i = 0; i < self->held->len; i++)
    if (g_array_index(self->held, uint32_t, i) == thread) return TRUE;
  return FALSE;
}

void
td_live_session_step(TdLiveSession *self, uint32_t thread) {
  say_thread(self, "step", thread);
}

void
td_live_session_continue(TdLiveSession *self) {
  say(self, "continue");
}

void
td_live_session_pause(TdLiveSession *self) {
  say(self, "pause");
}

void
td_live_session_detach(TdLiveSession *self) {
  self->released = TRUE;
  say(self, "detach");
}

void
td_live_session_interrupt(TdLiveSession *self) {
  if (self->ended) return;
  say(self, "interrupt");
  td_live_session_detach(self);
}

void
td_live_session_set_condition(TdLiveSession *self, const char *condition, gboolean wanted) {
  td_line_text text;
  td_line_begin(&text, "break");
  td_line_add(&text, wanted ? "add" : "remove", condition);
  send_line(self, &text);
}

void
td_live_session_set_held(TdLiveSession *self, uint32_t thread, gboolean held) {
  say_thread(self, held ? "hold" : "release", thread);
}

void
td_live_session_choose(TdLiveSession *self, uint32_t queue, uint32_t node) {
  td_line_text text;
  td_line_begin(&text, "choose");
  td_line_add_number(&text, "queue", queue);
  td_line_add_number(&text, "node", node);
  send_line(self, &text);
}
