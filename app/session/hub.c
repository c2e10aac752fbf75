/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/hub.h"

#include "app/session/hub_memory.h"
#include "app/session/session_socket.h"
#include "engine/control/link.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The most bytes that may wait for a peer that does not read. Beyond that the hub hangs up. */
#define UNSENT_BYTES_MAX (4u << 20)

typedef enum peer_role { PEER_UNKNOWN, PEER_TARGET, PEER_VIEWER, PEER_ASKER } peer_role;

/* A connection; a td_hub_target once it has said hello. */
struct td_hub_target {
  td_hub *hub;
  int fd; /* (owned) -1: hung up */
  peer_role role;
  bool answered;          /* of a target: it reads its answer first, and nothing may come before */
  pid_t pid;              /* of the target; or of the target that a viewer looks at, or 0 */
  guint reading, writing; /* sources, 0: none */
  td_line_reader reader;
  GByteArray *unsent;   /* (owned) */
  td_hub_memory memory; /* of what a target said */
  gpointer data;
  GDestroyNotify free_data;
};

struct td_hub {
  td_hub_owner owner;
  td_session_socket socket; /* (owned) */
  int spare;                /* (owned) a descriptor for refuse_one, or -1 */
  guint accepting;
  GPtrArray *peers; /* (owned) of td_hub_target */
};

static void
peer_free(gpointer data) {
  td_hub_target *peer = data;
  if (peer->reading) g_source_remove(peer->reading);
  if (peer->writing) g_source_remove(peer->writing);
  if (peer->fd >= 0) close(peer->fd);
  if (peer->free_data) peer->free_data(peer->data);
  td_line_reader_fini(&peer->reader);
  g_byte_array_unref(peer->unsent);
  td_hub_memory_fini(&peer->memory);
  g_free(peer);
}

/* Stops sending and reading. The reading source notices it and removes the peer. */
static void
hang_up(td_hub_target *peer) {
  shutdown(peer->fd, SHUT_RDWR);
  g_byte_array_set_size(peer->unsent, 0);
}

/* Returns how many bytes went out at once. A peer that lost a part would wait for it: it shall see
 * the end instead, and so does the reading source here. */
static gsize
send_now(td_hub_target *peer, const void *bytes, gsize n_bytes) {
  ssize_t n = send(peer->fd, bytes, n_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  bool is_lost = n < 0 && errno != EAGAIN && errno != EINTR;
  if (is_lost) shutdown(peer->fd, SHUT_RDWR);
  return is_lost ? n_bytes : n > 0 ? (gsize)n : 0;
}

static gboolean
write_cb(gint fd, GIOCondition condition, gpointer data) {
  td_hub_target *peer = data;
  gsize n = send_now(peer, peer->unsent->data, peer->unsent->len);
  g_byte_array_remove_range(peer->unsent, 0, (guint)n);
  if (peer->unsent->len) return G_SOURCE_CONTINUE;
  peer->writing = 0;
  return G_SOURCE_REMOVE;
}

static void
peer_send(td_hub_target *peer, const char *bytes, gsize n_bytes) {
  gsize n = peer->unsent->len ? 0 : send_now(peer, bytes, n_bytes);
  if (n == n_bytes) return;
  g_byte_array_append(peer->unsent, (const guint8 *)bytes + n, (guint)(n_bytes - n));
  if (peer->unsent->len > UNSENT_BYTES_MAX)
    hang_up(peer);
  else if (!peer->writing)
    peer->writing = g_unix_fd_add(peer->fd, G_IO_OUT, write_cb, peer);
}

static void
send_to_viewers(td_hub *hub, const char *line) {
  for (guint i = 0; i < hub->peers->len; i++) {
    td_hub_target *peer = hub->peers->pdata[i];
    if (peer->role == PEER_VIEWER) peer_send(peer, line, strlen(line));
  }
}

/* 0: to all. */
static void
send_to_targets(td_hub *hub, pid_t pid, const char *line) {
  for (guint i = 0; i < hub->peers->len; i++) {
    td_hub_target *peer = hub->peers->pdata[i];
    bool hears =
        peer->role == PEER_TARGET && peer->answered && !td_hub_memory_is_deaf(&peer->memory);
    if (hears && (!pid || peer->pid == pid)) peer_send(peer, line, strlen(line));
  }
}

/* Passes a line of a target on to the viewers, with the target's process. */
static void
relay(td_hub_target *target, const td_line *line) {
  td_line_text text;
  td_line_copy(&text, line);
  td_line_add_number(&text, "pid", target->pid);
  td_hub_memory_keep(&target->memory, line, text.bytes);
  send_to_viewers(target->hub, text.bytes);
  td_line_text_fini(&text);
}

static void
tell_target(td_hub_target *peer, const td_hub_target *target) {
  td_line_text text;
  td_line_begin(&text, "target");
  td_line_add_number(&text, "pid", target->pid);
  td_hub_memory_add_facts(&target->memory, &text);
  peer_send(peer, text.bytes, text.n_bytes);
  td_line_text_fini(&text);
}

static void
tell_targets(td_hub_target *peer) {
  for (guint i = 0; i < peer->hub->peers->len; i++) {
    const td_hub_target *target = peer->hub->peers->pdata[i];
    if (target->role == PEER_TARGET) tell_target(peer, target);
  }
}

static void
answer_list(td_hub_target *asker) {
  static const char end[] = "listed\n";
  asker->role = PEER_ASKER;
  tell_targets(asker);
  peer_send(asker, end, strlen(end));
}

static void
tell_line(const char *line, void *viewer) {
  peer_send(viewer, line, strlen(line));
}

static void
tell_over(td_hub_target *viewer) {
  td_line_text text;
  td_line_begin(&text, "over");
  td_line_add_number(&text, "pid", viewer->pid);
  peer_send(viewer, text.bytes, text.n_bytes);
  td_line_text_fini(&text);
}

/* A viewer that comes late gets the lines that it missed, and hears if its process has gone. */
static void
tell_state(td_hub_target *viewer) {
  bool is_there = viewer->pid == 0;
  tell_targets(viewer);
  for (guint i = 0; i < viewer->hub->peers->len; i++) {
    const td_hub_target *target = viewer->hub->peers->pdata[i];
    is_there |= target->role == PEER_TARGET && target->pid == viewer->pid;
    td_hub_memory_tell(&target->memory, tell_line, viewer);
  }
  if (!is_there) tell_over(viewer);
}

/* As Ctrl+C does. The target gets the signal before the commands that come later. */
static void
interrupt(td_hub *hub, pid_t pid) {
  for (guint i = 0; i < hub->peers->len; i++) {
    const td_hub_target *peer = hub->peers->pdata[i];
    if (peer->role == PEER_TARGET && peer->pid == pid) kill(pid, SIGINT);
  }
}

/* A command of a viewer goes to the target that it names, or to all targets. */
static void
command(td_hub_target *viewer, const td_line *line) {
  guint32 pid = 0;
  td_line_text text;
  td_line_find_u32(line, "pid", &pid);
  if (td_line_is(line, "interrupt")) {
    interrupt(viewer->hub, (pid_t)pid);
    return;
  }
  td_line_copy(&text, line);
  send_to_targets(viewer->hub, (pid_t)pid, text.bytes);
  td_line_text_fini(&text);
}

/* Where the threads of a target are in their code. */

static void
answer_where(td_hub_target *asker, const td_line *where) {
  td_line_text text;
  td_line_copy(&text, where);
  peer_send(asker, text.bytes, text.n_bytes);
  td_line_text_fini(&text);
  asker->pid = 0;
}

static void
pass_on_where(const td_hub_target *target, const td_line *where) {
  for (guint i = 0; i < target->hub->peers->len; i++) {
    td_hub_target *peer = target->hub->peers->pdata[i];
    if (peer->role == PEER_ASKER && peer->pid == target->pid) answer_where(peer, where);
  }
}

static void
ask_where(td_hub_target *asker, const td_line *line) {
  guint32 pid = 0;
  td_line_find_u32(line, "pid", &pid);
  asker->role = PEER_ASKER;
  asker->pid = (pid_t)pid;
  for (guint i = 0; i < asker->hub->peers->len; i++) {
    td_hub_target *target = asker->hub->peers->pdata[i];
    if (target->role == PEER_TARGET && target->answered && target->pid == (pid_t)pid)
      peer_send(target, "where\n", strlen("where\n"));
  }
}

static void
introduce(td_hub_target *peer, const td_line *line) {
  guint32 pid;
  if (td_line_is(line, "view")) {
    peer->role = PEER_VIEWER;
    peer->pid = td_line_find_u32(line, "pid", &pid) ? (pid_t)pid : 0;
    tell_state(peer);
  } else if (td_line_is(line, "hello") && td_line_find_u32(line, "pid", &pid)) {
    peer->role = PEER_TARGET;
    peer->pid = (pid_t)pid;
    relay(peer, line);
    if (peer->hub->owner.hello) peer->hub->owner.hello(peer, line, peer->hub->owner.data);
  } else if (td_line_is(line, "list")) {
    answer_list(peer);
  } else if (td_line_is(line, "where")) {
    ask_where(peer, line);
  } else if (td_line_is(line, "dump") && peer->hub->owner.dump) {
    peer->role = PEER_ASKER;
    peer->hub->owner.dump(peer, peer->hub->owner.data);
  } else {
    if (td_line_is(line, "loaded") && peer->hub->owner.loaded)
      peer->hub->owner.loaded(peer->hub->owner.data);
    hang_up(peer);
  }
}

static void
target_over(td_hub_target *target, const td_line *over) {
  const td_line hung_up = {.word = "over"};
  target->role = PEER_UNKNOWN;
  relay(target, over ? over : &hung_up);
  td_hub_memory_forget(&target->memory);
  if (target->hub->owner.over) target->hub->owner.over(target, over, target->hub->owner.data);
}

/* Nobody may be left to let the program go on. */
static void
viewer_over(td_hub_target *viewer) {
  viewer->role = PEER_UNKNOWN;
  if (!td_hub_is_viewed(viewer->hub, viewer->pid)) td_hub_detach(viewer->hub, viewer->pid);
}

static void
hear(td_hub_target *peer, const td_line *line) {
  if (peer->role == PEER_ASKER) return; /* it has asked */
  if (peer->role == PEER_VIEWER)
    command(peer, line);
  else if (peer->role == PEER_UNKNOWN)
    introduce(peer, line);
  else if (td_line_is(line, "over"))
    target_over(peer, line);
  else if (td_line_is(line, "where"))
    pass_on_where(peer, line);
  else {
    relay(peer, line);
    if (peer->hub->owner.said) peer->hub->owner.said(peer, line, peer->hub->owner.data);
  }
}

static bool
receive(td_hub_target *peer) {
  char bytes[4096];
  td_line line;
  td_line_result result;
  ssize_t n = recv(peer->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  td_line_reader_add(&peer->reader, bytes, (size_t)n);
  while ((result = td_line_reader_take(&peer->reader, &line)) == TD_LINE_READY) {
    hear(peer, &line);
    td_line_fini(&line);
  }
  return result != TD_LINE_BAD;
}

static gboolean
read_cb(gint fd, GIOCondition condition, gpointer data) {
  td_hub_target *peer = data;
  if (receive(peer)) return G_SOURCE_CONTINUE;
  if (peer->role == PEER_TARGET) target_over(peer, NULL);
  if (peer->role == PEER_VIEWER) viewer_over(peer);
  peer->reading = 0;
  g_ptr_array_remove(peer->hub->peers, peer);
  return G_SOURCE_REMOVE;
}

/* Without a free descriptor nobody can be accepted, nor hear so: the peer would wait, and this
 * process would be woken again and again. So one descriptor is kept for that. */
static void
refuse_one(td_hub *hub) {
  if (hub->spare >= 0) close(hub->spare);
  int fd = accept4(hub->socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) close(fd);
  hub->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static gboolean
accept_cb(gint listening, GIOCondition condition, gpointer data) {
  td_hub *hub = data;
  int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE)) refuse_one(hub);
  if (fd < 0) return G_SOURCE_CONTINUE;
  if (!td_link_is_own_user(fd)) {
    close(fd);
    return G_SOURCE_CONTINUE;
  }
  td_hub_target *peer = g_new0(td_hub_target, 1);
  peer->hub = hub;
  peer->fd = fd;
  peer->unsent = g_byte_array_new();
  td_hub_memory_init(&peer->memory);
  peer->reading = g_unix_fd_add(fd, G_IO_IN | G_IO_HUP | G_IO_ERR, read_cb, peer);
  g_ptr_array_add(hub->peers, peer);
  return G_SOURCE_CONTINUE;
}

td_hub *
td_hub_new(const td_hub_owner *owner, char **problem) {
  td_hub *hub = g_new0(td_hub, 1);
  hub->owner = *owner;
  hub->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
  hub->peers = g_ptr_array_new_with_free_func(peer_free);
  if (!td_session_socket_open(&hub->socket)) {
    *problem = g_strdup_printf("no socket for the session: %s", g_strerror(errno));
    td_hub_free(hub);
    return NULL;
  }
  hub->accepting = g_unix_fd_add(hub->socket.fd, G_IO_IN, accept_cb, hub);
  return hub;
}

void
td_hub_free(td_hub *hub) {
  if (hub->accepting) g_source_remove(hub->accepting);
  g_ptr_array_unref(hub->peers);
  td_session_socket_close(&hub->socket);
  if (hub->spare >= 0) close(hub->spare);
  g_free(hub);
}

const char *
td_hub_get_path(const td_hub *hub) {
  return hub->socket.path;
}

void
td_hub_detach(td_hub *hub, pid_t pid) {
  send_to_targets(hub, pid, "detach\n");
}

bool
td_hub_is_viewed(const td_hub *hub, pid_t pid) {
  for (guint i = 0; i < hub->peers->len; i++) {
    const td_hub_target *peer = hub->peers->pdata[i];
    if (peer->role == PEER_VIEWER && peer->pid == pid) return true;
  }
  return false;
}

guint
td_hub_get_n_targets(const td_hub *hub) {
  guint n = 0;
  for (guint i = 0; i < hub->peers->len; i++)
    n += ((td_hub_target *)hub->peers->pdata[i])->role == PEER_TARGET;
  return n;
}

td_hub *
td_hub_target_get_hub(const td_hub_target *target) {
  return target->hub;
}

pid_t
td_hub_target_get_pid(const td_hub_target *target) {
  return target->pid;
}

void
td_hub_target_answer(td_hub_target *target, const td_line_text *line) {
  target->answered = true;
  peer_send(target, line->bytes, line->n_bytes);
}

void
td_hub_target_set_data(td_hub_target *target, gpointer data, GDestroyNotify free_data) {
  if (target->free_data) target->free_data(target->data);
  target->data = data;
  target->free_data = free_data;
}

gpointer
td_hub_target_get_data(const td_hub_target *target) {
  return target->data;
}
