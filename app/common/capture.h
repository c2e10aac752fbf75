/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What child processes print: a copy of all that goes to standard output or standard error, until
 * somebody ends the capture. Main thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct td_capture {
  int fd;    /* 1 or 2 */
  int saved; /* what fd was */
  int end;   /* from which the thread reads */
  bool shown;
  GString *text; /* (owned) the thread's until td_capture_end */
  GThread *thread;
} td_capture;

/* td_capture_begin makes fd lead into the capture. If `shown`, the text goes on to where it went
 * before. It returns false and sets errno if there are no descriptors left. */
bool td_capture_begin(td_capture *capture, int fd, bool shown);

/* td_capture_end gives fd back and returns the text (free it). It waits until all processes that
 * can print into the capture have closed it. */
char *td_capture_end(td_capture *capture);
