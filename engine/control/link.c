/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/control/link.h"

#include "engine/base/alloc.h"
#include "engine/base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SEND_SECONDS_MAX 5
#define REPLY_SECONDS_MAX 600
#define POLL_MS 500 /* if the program closed the pipe, nothing wakes the listener */

struct td_link {
  td_own_file socket;
  td_own_file wake_out, wake_in; /* the ends of a pipe */
  _Atomic bool wanted;           /* td_link_wake was called */
  _Atomic bool lost;
  _Atomic bool closing;
  pthread_mutex_t sending; /* keeps messages whole */
  td_line_reader reader;   /* the opener's, then the listener's */
  td_link_listener listener;
  bool is_listening;
  pthread_t thread;
};

bool
td_link_is_own_user(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* Nothing is said to a hub of another user: its answer names code to load. */
td_status
td_link_dial(const char *path, int *fd, td_error *error) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path)
    return td_error_set(error, TD_IO, "the session's path is too long: %s", path);
  strcpy(address.sun_path, path);
  *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (*fd < 0 || connect(*fd, (const void *)&address, sizeof address) != 0)
    td_error_set(error, TD_IO, "no session at %s: %s", path, strerror(errno));
  else if (!td_link_is_own_user(*fd))
    td_error_set(error, TD_IO, "the session at %s belongs to another user", path);
  else
    return TD_OK;
  if (*fd >= 0) close(*fd);
  *fd = -1;
  return TD_IO;
}

static bool
send_all(td_link *link, const char *bytes, size_t n_bytes) {
  while (n_bytes > 0) {
    if (!td_own_file_is_there(&link->socket)) return false;
    ssize_t n = send(link->socket.fd, bytes, n_bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    n_bytes -= (size_t)n;
  }
  return true;
}

/* Half a message cannot be taken back: whoever fails to send hangs up, which the listener sees. */
static bool
send_line(td_link *link, const td_line_text *message) {
  pthread_mutex_lock(&link->sending);
  bool lost = atomic_load_explicit(&link->lost, memory_order_relaxed);
  if (!lost && !send_all(link, message->bytes, message->n_bytes)) {
    atomic_store_explicit(&link->lost, true, memory_order_relaxed);
    if (td_own_file_is_there(&link->socket)) shutdown(link->socket.fd, SHUT_RDWR);
    lost = true;
  }
  pthread_mutex_unlock(&link->sending);
  return !lost;
}

/* Reads once. False: the other side is gone. */
static bool
receive(td_link *link) {
  char bytes[4096];
  ssize_t n;
  do
    n = td_own_file_is_there(&link->socket) ? recv(link->socket.fd, bytes, sizeof bytes, 0) : 0;
  while (n < 0 && errno == EINTR);
  if (n > 0) td_line_reader_add(&link->reader, bytes, (size_t)n);
  return n > 0;
}

static td_status
receive_reply(td_link *link, td_line *reply, td_error *error) {
  for (;;) {
    td_line_result result = td_line_reader_take(&link->reader, reply);
    if (result == TD_LINE_READY) return TD_OK;
    if (result == TD_LINE_BAD) return td_error_set(error, TD_IO, "the session answers nonsense");
    if (!receive(link)) return td_error_set(error, TD_IO, "the session gave no answer");
  }
}

static td_link *
link_new(int socket) {
  td_link *link = TD_NEW(td_link);
  struct timeval send_max = {.tv_sec = SEND_SECONDS_MAX}, reply_max = {.tv_sec = REPLY_SECONDS_MAX};
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &send_max, sizeof send_max);
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &reply_max, sizeof reply_max);
  link->socket = td_own_file_init(socket);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) ends[0] = ends[1] = -1;
  link->wake_out = td_own_file_init(ends[0]);
  link->wake_in = td_own_file_init(ends[1]);
  pthread_mutex_init(&link->sending, NULL);
  return link;
}

static void
close_files(td_link *link) {
  td_own_file_close(&link->socket);
  td_own_file_close(&link->wake_out);
  td_own_file_close(&link->wake_in);
}

static void
link_free(td_link *link) {
  close_files(link);
  td_line_reader_fini(&link->reader);
  free(link);
}

td_status
td_link_connect(const char *path, td_link **link, td_error *error) {
  int socket = -1;
  td_status status = td_link_dial(path, &socket, error);
  if (!status) *link = link_new(socket);
  return status;
}

void
td_link_set_patience(td_link *link, unsigned seconds) {
  struct timeval reply_max = {.tv_sec = seconds};
  if (td_own_file_is_there(&link->socket))
    setsockopt(link->socket.fd, SOL_SOCKET, SO_RCVTIMEO, &reply_max, sizeof reply_max);
}

td_status
td_link_ask(td_link *link, const td_line_text *hello, td_line *reply, td_error *error) {
  if (!send_line(link, hello)) return td_error_set(error, TD_IO, "the session hung up");
  return receive_reply(link, reply, error);
}

td_status
td_link_open(const char *path, const td_line_text *hello, td_line *reply, td_link **link,
             td_error *error) {
  td_link *made;
  td_status status = td_link_connect(path, &made, error);
  if (status) return status;
  status = td_link_ask(made, hello, reply, error);
  if (status)
    link_free(made);
  else
    *link = made;
  return status;
}

void
td_link_report(td_link *link, const td_line_text *message) {
  send_line(link, message);
}

static bool
hear_commands(td_link *link) {
  td_line command;
  td_line_result result;
  while ((result = td_line_reader_take(&link->reader, &command)) == TD_LINE_READY) {
    link->listener.command(&command, link->listener.data);
    td_line_fini(&command);
  }
  return result != TD_LINE_BAD;
}

static bool
lose(td_link *link) {
  atomic_store_explicit(&link->lost, true, memory_order_relaxed);
  if (link->listener.lost) link->listener.lost(link->listener.data);
  return true;
}

/* poll passes by a descriptor of -1. */
static struct pollfd
wait_on(const td_own_file *file) {
  return (struct pollfd){.fd = td_own_file_is_there(file) ? file->fd : -1, .events = POLLIN};
}

static bool
hub_has_gone(td_link *link, const struct pollfd *socket) {
  if (socket->fd < 0) return true;
  return socket->revents && !(receive(link) && hear_commands(link));
}

/* Both descriptors until the hub is lost, then only the wakening one. */
static void *
listen_main(void *data) {
  td_link *link = data;
  bool lost = !hear_commands(link) && lose(link);
  while (!atomic_load_explicit(&link->closing, memory_order_acquire)) {
    struct pollfd fds[] = {wait_on(&link->wake_out), wait_on(&link->socket)};
    if (poll(fds, lost ? 1 : 2, POLL_MS) < 0) continue;
    char bytes[64];
    if (fds[0].revents && read(link->wake_out.fd, bytes, sizeof bytes) < 0 && errno != EAGAIN)
      continue;
    if (atomic_exchange_explicit(&link->wanted, false, memory_order_acq_rel) &&
        !atomic_load_explicit(&link->closing, memory_order_acquire))
      if (link->listener.woken) link->listener.woken(link->listener.data);
    if (!lost && hub_has_gone(link, &fds[1])) lost = lose(link);
  }
  return NULL;
}

td_status
td_link_listen(td_link *link, const td_link_listener *listener, td_error *error) {
  sigset_t all, before;
  link->listener = *listener;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failure =
      link->wake_in.fd < 0 ? ENOMEM : pthread_create(&link->thread, NULL, listen_main, link);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failure) return td_error_set(error, TD_OUT_OF_MEMORY, "no thread for live control");
  pthread_setname_np(link->thread, "td-control");
  link->is_listening = true;
  return TD_OK;
}

void
td_link_wake(td_link *link) {
  int before = errno;
  atomic_store_explicit(&link->wanted, true, memory_order_release);
  if (td_own_file_is_there(&link->wake_in) && write(link->wake_in.fd, "", 1) < 0) errno = before;
}

void
td_link_close(td_link *link) {
  if (link->is_listening) {
    atomic_store_explicit(&link->closing, true, memory_order_release);
    td_link_wake(link);
    pthread_join(link->thread, NULL);
  }
  link_free(link);
}

/* Nothing is freed: a thread that the fork left behind may have been changing it. */
void
td_link_abandon(td_link *link) {
  close_files(link);
}
