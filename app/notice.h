/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the window says in passing: one toast at a time. Main thread. */
#pragma once

#include <adwaita.h>

typedef struct {
  AdwToast *toast; /* (owned): the last one */
  gint64 since;    /* when it appeared, as g_get_monotonic_time() tells it */
} TdNotice;

/* td_notice_say shows `text` in place of what was said before. */
void td_notice_say(TdNotice *notice, AdwToastOverlay *overlay, const char *text);
void td_notice_clear(TdNotice *notice);
