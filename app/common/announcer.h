/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Announcer: long work tells it what the user should hear before the work is done. Who starts the
 * work owns the announcer and decides where the texts go. Its functions are called on any thread.
 * NULL in place of an announcer: nobody listens. */
#pragma once

#include <glib.h>

typedef struct td_announcer {
  void (*say)(const char *text, void *data);   /* a sentence */
  void (*begin)(const char *text, void *data); /* a sentence about what may take minutes */
  void (*count)(int seconds, void *data);      /* since it began; it goes on */
  void (*end)(void *data);                     /* it is over, or nobody waits for it any more */
  void *data;
} td_announcer;

void td_announcer_say(const td_announcer *announcer, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* There is one such work at a time. td_announcer_end may come without a begin. */
void td_announcer_begin(const td_announcer *announcer, const char *format, ...) G_GNUC_PRINTF(2, 3);
void td_announcer_count(const td_announcer *announcer, int seconds);
void td_announcer_end(const td_announcer *announcer);
