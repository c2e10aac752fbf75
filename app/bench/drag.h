/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Opens a tape in a window and drags its slider over the tape, to measure. Main thread. */
#pragma once

#include <stddef.h>

typedef struct td_drag {
  double open_ms;  /* from the wish to open the tape until its first picture is drawn */
  double frame_ms; /* mean time from a frame to the next */
  double worst_ms; /* the longest of these times */
} td_drag;

/* td_drag_slider opens a tape in a window that shows its start page. Then the slider goes over the
 * whole tape in so many frames, and back in half of them, one move a frame. Returns NULL, or why it
 * could not (owned). Call it once in a process: the process keeps its display. */
char *td_drag_slider(const char *path, int n_frames, td_drag *drag);
