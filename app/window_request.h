/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck open` asks of the window. Main thread. */
#pragma once

#include <glib.h>

typedef struct TdWindowRequest {
  const char *path;       /* tape, or NULL: the start page */
  const char *session;    /* of a program that still runs: its hub, or NULL */
  gint process;           /* and which process */
  guint64 position;       /* G_MAXUINT64: where a reader wants to begin */
  int width, height;      /* 0: as remembered */
  gboolean dark;          /* dark whatever the desktop says */
  const char *page;       /* of the side pane, or NULL */
  gint64 node;            /* to select, or -1 */
  const char *screenshot; /* PNG to write once all is drawn, then quit; or NULL */
} TdWindowRequest;

/* td_window_run opens the window, runs until it is closed and returns the exit status. */
int td_window_run(const TdWindowRequest *request);
