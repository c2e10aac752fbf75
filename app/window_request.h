/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The request of `tapedeck open` to the window. Main thread. */
#pragma once

#include <glib.h>

typedef struct TdWindowRequest {
  const char *path;       /* tape, or NULL for the start page */
  const char *session;    /* the hub of a program that still runs, or NULL */
  gint process;           /* the process of that program */
  guint64 position;       /* G_MAXUINT64: where a reader wants to begin */
  int width, height;      /* 0: as remembered */
  gboolean dark;          /* dark, even if the desktop is light */
  const char *page;       /* of the side pane, or NULL */
  gint64 node;            /* to select, or -1 */
  const char *screenshot; /* PNG to write when all is drawn, then quit; or NULL */
} TdWindowRequest;

/* td_window_run opens the window, runs until it closes and returns the exit status. */
int td_window_run(const TdWindowRequest *request);
