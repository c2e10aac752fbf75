/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/relay.h"

#include "app/session/remote/outlet.h"
#include "app/session/remote/relay_sender.h"
#include "app/session/remote/relay_session.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_BYTES 65536

typedef struct relay {
  GMainLoop *loop; /* (owned) */
  guint32 pid;
  td_relay_sender desk;
  td_outlet hub;
  td_line_reader from_desk, from_hub;
  bool is_known; /* the session has that process */
  bool is_over;  /* the loop shall end */
} relay;

static void
leave(relay *self) {
  self->is_over = true;
  g_main_loop_quit(self->loop);
}

static void
over_cb(void *data) {
  leave(data);
}

static void
say(relay *self, const td_line_text *text) {
  td_relay_sender_say(&self->desk, text);
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

/* ---- from the hub ---- */

static void
open_tape(relay *self, const char *path) {
  td_tape_shipper *shipper = td_tape_shipper_new(path);
  if (!shipper) {
    g_autofree char *problem = g_strdup_printf("%s: %s", path, g_strerror(errno));
    say_sorry(self, problem);
    leave(self);
    return;
  }
  td_relay_sender_take(&self->desk, shipper);
  td_line_text text;
  td_line_begin(&text, "copy");
  td_line_add(&text, "path", path);
  td_line_add_number(&text, "n", (gint64)td_tape_shipper_get_size(shipper));
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
  if (td_line_is(line, "tape") && path && !self->desk.shipper) open_tape(self, path);
  self->is_known = true;
}

static bool
queue_line(relay *self, const td_line *line) {
  td_line_text text;
  take_notice(self, line);
  td_line_copy(&text, line);
  td_relay_sender_queue(&self->desk, &text);
  td_line_text_fini(&text);
  return !self->is_over;
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
  td_relay_sender_finish(&self->desk);
  close(fd);
  return G_SOURCE_REMOVE;
}

/* The recorder hangs up, and may still write the tape's table of contents. */
static void
wait_for_recorder(relay *self, int hub) {
  struct ucred peer = {0};
  socklen_t size = sizeof peer;
  bool is_known = getsockopt(hub, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0;
  int process = is_known ? (int)syscall(SYS_pidfd_open, peer.pid, 0) : -1;
  if (process >= 0)
    g_unix_fd_add(process, G_IO_IN, recorder_gone_cb, self);
  else
    td_relay_sender_finish(&self->desk);
}

static gboolean
hub_cb(gint fd, GIOCondition condition, gpointer data) {
  relay *self = data;
  if (receive(self, fd, &self->from_hub, queue_line)) return G_SOURCE_CONTINUE;
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
serve(relay *self, int hub, int from_desk) {
  td_outlet_set_file(&self->hub, hub);
  g_unix_fd_add(hub, G_IO_IN | G_IO_HUP | G_IO_ERR, hub_cb, self);
  g_unix_fd_add(from_desk, G_IO_IN | G_IO_HUP | G_IO_ERR, desk_cb, self);
  view(self);
  if (!self->is_over) g_main_loop_run(self->loop);
}

static void
relay_fini(relay *self) {
  td_relay_sender_fini(&self->desk);
  td_outlet_fini(&self->hub);
  td_line_reader_fini(&self->from_desk);
  td_line_reader_fini(&self->from_hub);
  g_main_loop_unref(self->loop);
}

bool
td_relay_run(guint32 pid, int from_desk, int to_desk) {
  g_autofree char *problem = NULL;
  relay self = {.pid = pid, .loop = g_main_loop_new(NULL, FALSE)};
  signal(SIGPIPE, SIG_IGN);
  td_relay_sender_init(&self.desk, dup(to_desk), over_cb, &self);
  td_outlet_init(&self.hub, NULL, NULL);
  int hub = td_relay_session_connect(&self.pid, &problem);
  greet(&self);
  if (problem)
    say_sorry(&self, problem);
  else
    serve(&self, hub, from_desk);
  bool has_ended = self.desk.has_ended;
  relay_fini(&self);
  return has_ended;
}
