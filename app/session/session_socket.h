/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The socket of a session, in a folder that only this user can enter. Main thread. */
#pragma once

#include <stdbool.h>

typedef struct td_session_socket {
  int fd;              /* (owned) it listens and does not block; -1: closed */
  char *folder, *path; /* (owned) or NULL */
  bool stays;          /* the folder, after the session */
} td_session_socket;

/* td_session_socket_open makes a folder and listens in it. It removes folders of sessions whose
 * process died. False, with errno, if there is no place for a folder, or no socket. */
bool td_session_socket_open(td_session_socket *self);

/* td_session_socket_close removes the socket and, if nobody else could make it again, the folder.
 * It also takes one that did not open. */
void td_session_socket_close(td_session_socket *self);
