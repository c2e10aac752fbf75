/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/relay.h"

#include "app/command.h"
#include "app/outlet.h"
#include "app/relay_session.h"
#include "app/tape_shipper.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define FOLLOW_MS 500
#define AHEAD_BYTES_MAX (256u << 10) /* of the tape, on their way to the desk */
#define QUEUED_BYTES_MAX (4u << 20)  /* of the hub's lines, behind the tape */
#define READ_BYTES 65536

typedef struct relay {
  GMainLoop *loop; /* (owned) */
  guint32 pid;
  td_outlet desk, hub;
  td_line_reader from_desk, from_hub;
  GQueue lines; /* (owned) of char *: the hub's lines that wait for the tape */
  gsize n_queued_bytes;
  td_tape_shipper *shipper; /* (owned) or NULL: no tape yet */
  bool is_shipping;
  bool is_for_line;  /* this pass began after the first line came */
  bool is_caught_up; /* the first line may go */
  bool is_known;     /* the session has that process */
  bool hub_is_over, is_last, has_ended;
  guint pumping; /* source, or 0 */
} relay;

static void
leave(relay *self) {
  g_main_loop_quit(self->loop);
}

static void
say(relay *self, const td_line_text *text) {
  if (!td_outlet_send(&self->desk, text->bytes, text->n_bytes)) leave(self);
}

static void
say_word(relay *self, const char *word) {
  td_line_text text;
  td_line_begin(&text, word);
  say(self, &text);
  td_line_text_fini(&text);
}

static void
say_sorry(relay *self, const char *problem) {
  td_line_text text;
  td_line_begin(&text, "sorry");
  td_line_add(&text, "problem", problem);
  say(self, &text);
  td_line_text_fini(&text);
}

static void
greet(relay *self) {
  td_line_text text;
  td_line_begin(&text, "relay");
  td_line_add_number(&text, "protocol", TD_RELAY_PROTOCOL);
  td_line_add(&text, "tapedeck", TD_VERSION);
  td_line_add_number(&text, "pid", self->pid);
  say(self, &text);
  td_line_text_fini(&text);
}

/* ---- to the desk: the tape, and the lines that speak of it ---- */

static bool
needs_tape(const char *line) {
  return g_str_has_prefix(line, "tape ") || g_str_has_prefix(line, "stopped ") ||
         g_str_has_prefix(line, "over ");
}

static void
begin_pass(relay *self, bool is_whole) {
  self->is_shipping = true;
  self->is_for_line = self->lines.length > 0;
  td_tape_shipper_begin(self->shipper, is_whole);
}

static void
ship_next(relay *self) {
  td_line_text text;
  if (td_tape_shipper_next(self->shipper, &text)) {
    say(self, &text);
    td_line_text_fini(&text);
    return;
  }
  self->is_shipping = false;
  self->is_caught_up = self->is_for_line;
}

static void
pass_on_first(relay *self) {
  g_autofree char *line = g_queue_pop_head(&self->lines);
  self->n_queued_bytes -= strlen(line);
  self->is_caught_up = false;
  if (!td_outlet_send(&self->desk, line, strlen(line))) leave(self);
}

static void
begin_last_pass(relay *self) {
  self->is_last = true;
  if (!self->shipper) return;
  td_tape_shipper_follow(self->shipper);
  begin_pass(self, true);
}

static void
end(relay *self) {
  say_word(self, "ended");
  self->has_ended = true;
  if (!self->desk.unsent->len) leave(self);
}

/* False: nothing is left to send. */
static bool
send_next(relay *self) {
  const char *line = g_queue_peek_head(&self->lines);
  if (self->is_shipping)
    ship_next(self);
  else if (line && self->shipper && needs_tape(line) && !self->is_caught_up)
    begin_pass(self, false);
  else if (line)
    pass_on_first(self);
  else if (self->hub_is_over && !self->is_last)
    begin_last_pass(self);
  else if (self->is_last && !self->has_ended)
    end(self);
  else
    return false;
  return true;
}

/* The tape is sent no faster than the desk reads, and what the desk says comes first. */
static gboolean
pump_cb(gpointer data) {
  relay *self = data;
  bool has_room = self->desk.unsent->len < AHEAD_BYTES_MAX;
  if (has_room && send_next(self)) return G_SOURCE_CONTINUE;
  self->pumping = 0;
  return G_SOURCE_REMOVE;
}

static void
send_more(relay *self) {
  if (!self->pumping) self->pumping = g_idle_add(pump_cb, self);
}

static void
drained_cb(void *data) {
  relay *self = data;
  if (self->has_ended)
    leave(self);
  else
    send_more(self);
}

static gboolean
follow_cb(gpointer data) {
  relay *self = data;
  if (!self->shipper || self->is_shipping || !td_tape_shipper_is_due(self->shipper))
    return G_SOURCE_CONTINUE;
  begin_pass(self, false);
  send_more(self);
  return G_SOURCE_CONTINUE;
}

/* ---- from the hub ---- */

static void
open_tape(relay *self, const char *path) {
  self->shipper = td_tape_shipper_new(path);
  if (!self->shipper) {
    g_autofree char *problem = g_strdup_printf("%s: %s", path, g_strerror(errno));
    say_sorry(self, problem);
    leave(self);
    return;
  }
  td_line_text text;
  td_line_begin(&text, "copy");
  td_line_add(&text, "path", path);
  td_line_add_number(&text, "n", (gint64)td_tape_shipper_get_size(self->shipper));
  say(self, &text);
  td_line_text_fini(&text);
}

static void
take_notice(relay *self, const td_line *line) {
  guint32 pid;
  const char *path = td_line_find(line, "path");
  if (!td_line_find_u32(line, "pid", &pid) || pid != self->pid) return;
  if (td_line_is(line, "over") && !self->is_known) {
    say_sorry(self, "the recording of that process is over");
    leave(self);
    return;
  }
  if (td_line_is(line, "target") && !path) say_word(self, "waiting");
  if (td_line_is(line, "tape") && path && !self->shipper) open_tape(self, path);
  self->is_known = true;
}

static bool
queue_line(relay *self, const td_line *line) {
  td_line_text text;
  take_notice(self, line);
  td_line_copy(&text, line);
  self->n_queued_bytes += text.n_bytes;
  g_queue_push_tail(&self->lines, g_strdup(text.bytes));
  td_line_text_fini(&text);
  if (self->n_queued_bytes > QUEUED_BYTES_MAX) leave(self);
  return self->n_queued_bytes <= QUEUED_BYTES_MAX;
}

static bool
send_to_hub(relay *self, const td_line *line) {
  td_line_text text;
  td_line_copy(&text, line);
  bool fine = td_outlet_send(&self->hub, text.bytes, text.n_bytes);
  td_line_text_fini(&text);
  return fine;
}

/* Reads what is there, and calls `hear` with each line. False: that was the end, or must be. */
static bool
receive(relay *self, int fd, td_line_reader *reader, bool (*hear)(relay *, const td_line *)) {
  char bytes[READ_BYTES];
  td_line line;
  td_line_result result;
  ssize_t n = read(fd, bytes, sizeof bytes);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  td_line_reader_add(reader, bytes, (size_t)n);
  while ((result = td_line_reader_take(reader, &line)) == TD_LINE_READY) {
    bool goes_on = hear(self, &line);
    td_line_fini(&line);
    if (!goes_on) return false;
  }
  return result != TD_LINE_BAD;
}

/* The recorder has ended: the tape stays as it is now. */
static gboolean
recorder_gone_cb(gint fd, GIOCondition condition, gpointer data) {
  relay *self = data;
  self->hub_is_over = true;
  send_more(self);
  close(fd);
  return G_SOURCE_REMOVE;
}

/* The recorder hangs up, and may still write the tape's table of contents. */
static void
wait_for_recorder(relay *self, int hub) {
  struct ucred peer = {0};
  socklen_t size = sizeof peer;
  bool is_known = getsockopt(hub, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0;
  int process = is_known ? pidfd_open(peer.pid, 0) : -1;
  if (process >= 0)
    g_unix_fd_add(process, G_IO_IN, recorder_gone_cb, self);
  else
    self->hub_is_over = true;
  send_more(self);
}

static gboolean
hub_cb(gint fd, GIOCondition condition, gpointer data) {
  relay *self = data;
  bool goes_on = receive(self, fd, &self->from_hub, queue_line);
  send_more(self);
  if (goes_on) return G_SOURCE_CONTINUE;
  if (self->is_known)
    wait_for_recorder(self, fd);
  else
    leave(self);
  return G_SOURCE_REMOVE;
}

static gboolean
desk_cb(gint fd, GIOCondition condition, gpointer data) {
  relay *self = data;
  if (receive(self, fd, &self->from_desk, send_to_hub)) return G_SOURCE_CONTINUE;
  leave(self);
  return G_SOURCE_REMOVE;
}

/* ---- all of it ---- */

static void
view(relay *self) {
  td_line_text text;
  td_line_begin(&text, "view");
  td_line_add_number(&text, "pid", self->pid);
  if (!td_outlet_send(&self->hub, text.bytes, text.n_bytes)) leave(self);
  td_line_text_fini(&text);
}

static void
serve(relay *self, int hub) {
  td_outlet_set_file(&self->hub, hub);
  g_unix_fd_add(hub, G_IO_IN | G_IO_HUP | G_IO_ERR, hub_cb, self);
  g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, desk_cb, self);
  g_timeout_add(FOLLOW_MS, follow_cb, self);
  view(self);
  g_main_loop_run(self->loop);
}

static void
relay_fini(relay *self) {
  td_outlet_fini(&self->desk);
  td_outlet_fini(&self->hub);
  td_line_reader_fini(&self->from_desk);
  td_line_reader_fini(&self->from_hub);
  g_queue_clear_full(&self->lines, g_free);
  td_tape_shipper_free(self->shipper);
  g_main_loop_unref(self->loop);
}

int
td_relay_run(guint32 pid) {
  g_autofree char *problem = NULL;
  relay self = {.pid = pid, .loop = g_main_loop_new(NULL, FALSE)};
  signal(SIGPIPE, SIG_IGN);
  td_outlet_init(&self.desk, drained_cb, &self);
  td_outlet_init(&self.hub, NULL, NULL);
  td_outlet_set_file(&self.desk, dup(STDOUT_FILENO));
  int hub = td_relay_session_connect(&self.pid, &problem);
  greet(&self);
  if (problem)
    say_sorry(&self, problem);
  else
    serve(&self, hub);
  int status = self.has_ended ? TD_EXIT_OK : TD_EXIT_BAD;
  relay_fini(&self);
  return status;
}
