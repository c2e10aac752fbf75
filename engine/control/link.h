/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Link: the target's end of a session. It says hello to the hub, hears how to record the target,
 * and then reports. A live target also listens, on a thread of its own. The other end may go away
 * at any time. Reports are then lost without a word and without a signal; the listener hears of it
 * once. In the child of a fork a link is dead, because its socket is closed there: abandon it and
 * open another. */
#pragma once

#include "engine/base/status.h"
#include "engine/control/line.h"

/* The environment variable with the path of the hub's socket. */
#define TD_LINK_VARIABLE "TAPEDECK_SESSION"

typedef struct td_link td_link;

/* td_link_is_own_user tells whether the other end of a socket is a process of this user. */
bool td_link_is_own_user(int fd);

/* td_link_dial connects a socket to the hub at `path`, for others than targets. It sets *fd, which
 * the caller owns, or returns TD_IO with the reason and sets *fd to -1. */
td_status td_link_dial(const char *path, int *fd, td_error *error);

/* td_link_connect connects to the hub at `path`. td_link_ask sends `hello` and waits for the
 * answer, which may take as long as a compile does. TD_IO with the reason: nobody there, another
 * user's hub, nothing or nonsense answered. The caller finishes *reply. td_link_open does both. */
td_status td_link_connect(const char *path, td_link **link, td_error *error);
td_status td_link_ask(td_link *link, const td_line_text *hello, td_line *reply, td_error *error);
td_status td_link_open(const char *path, const td_line_text *hello, td_line *reply, td_link **link,
                       td_error *error);

/* td_link_set_patience has td_link_ask wait no longer for the answer. */
void td_link_set_patience(td_link *link, unsigned seconds);

/* td_link_report sends a message. Any thread; it waits no longer than a few seconds for a hub that
 * does not read, and gives the link up then. */
void td_link_report(td_link *link, const td_line_text *message);

/* What the listener's thread calls. `command` for each line from the hub; `lost` once, when the hub
 * is gone; `woken` after td_link_wake. The last two may be NULL. */
typedef struct td_link_listener {
  void (*command)(const td_line *command, void *data);
  void (*lost)(void *data);
  void (*woken)(void *data);
  void *data;
} td_link_listener;

/* td_link_listen starts the listener's thread, with all signals blocked. Once per link. */
td_status td_link_listen(td_link *link, const td_link_listener *listener, td_error *error);

/* td_link_wake has the listener call `woken`. Async-signal-safe. */
void td_link_wake(td_link *link);

/* td_link_close ends the listener, hangs up and frees. Not from the listener's thread. */
void td_link_close(td_link *link);

/* td_link_abandon hangs up in the child of a fork, which has no listener. It frees nothing. */
void td_link_abandon(td_link *link);
