/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The request of `tapedeck open` to the window. Main thread. */
#pragma once

#include "app/common/moment.h"
#include "engine/profile/report/overlay.h"

typedef struct TdWindowRequest {
  const char *path;         /* tape, or NULL for the start page */
  const char *lesson;       /* to begin, or NULL */
  const char *beside;       /* another tape, to compare with `path`, or NULL */
  gint64 beside_pass;       /* compare this pass with that of the moment; or TD_MOMENT_NO_PASS */
  const char *session;      /* the hub of a program that still runs, or NULL */
  gint process;             /* the process of that program */
  const char *remote;       /* USER@HOST where it runs, or NULL: here */
  td_moment_options moment; /* none given: where a reader wants to begin */
  int width, height;        /* 0: as remembered */
  gboolean dark;            /* dark, even if the desktop is light */
  const char *page;         /* of the side pane, or NULL */
  const char *layout;       /* of the panes, or NULL: as remembered */
  td_overlay_kind overlay;  /* what colours the nodes, or TD_N_OVERLAYS */
  gint64 node;              /* to select, or -1 */
  gboolean has_range;       /* of time, chosen as by Shift and a drag: */
  uint64_t from_ns, to_ns;  /* times on the tape */
  const char *screenshot;   /* PNG to write when all is drawn, then quit; or NULL */
} TdWindowRequest;

/* td_window_run opens the window, runs until it closes and returns the exit status. The window
 * looks for the moment after it has loaded the tape. If the tape lacks the moment, td_window_run
 * prints so, closes the window and returns TD_EXIT_USAGE. */
int td_window_run(const TdWindowRequest *request);

/* td_window_leave is the last call before `main` returns the status. If a worker of the window is
 * still at work, it ends the process at once, for `exit` would free what the worker uses. */
int td_window_leave(int status);
