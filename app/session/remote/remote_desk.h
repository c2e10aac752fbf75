/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A hub for one window, whose lines come from elsewhere. The window may come later: lines wait for
 * it. Nobody finds its socket in a list of sessions. Main thread. */
#pragma once

#include "app/session/remote/outlet.h"
#include "engine/control/line.h"

typedef struct td_remote_desk {
  char *path;               /* (owned) of the socket */
  int listening;            /* (owned) or -1 */
  int fd;                   /* (owned) the window, to read; or -1 */
  guint accepting, reading; /* sources, or 0 */
  td_outlet window;
  td_line_reader reader;
  bool is_closing;                               /* hang up as soon as the window has all lines */
  void (*said)(const td_line *line, void *data); /* a command of the window */
  void *data;
} td_remote_desk;

/* td_remote_desk_open makes the socket in a folder that only this user can enter. Returns 0 or
 * errno. td_remote_desk_fini also takes one that did not open. */
int td_remote_desk_open(td_remote_desk *desk, const char *folder,
                        void (*said)(const td_line *line, void *data), void *data);
void td_remote_desk_fini(td_remote_desk *desk);

/* td_remote_desk_tell passes a line on. False: the window reads nothing, and too much waits. */
bool td_remote_desk_tell(td_remote_desk *desk, const td_line *line);

/* td_remote_desk_hang_up ends the session for the window, behind the lines that were passed on. */
void td_remote_desk_hang_up(td_remote_desk *desk);
