/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a window says in passing: one line over its content, for some seconds. Not AdwToastOverlay:
 * libadwaita 1.2 uses a toast after it is freed if somebody dismisses it while it moves. Main
 * thread. */
#pragma once

#include <adwaita.h>

typedef struct {
  GtkRevealer *revealer; /* (borrowed) from the overlay, as all below */
  GtkLabel *label;
  guint timeout; /* id of what hides it, or 0 */
} TdNotice;

void td_notice_init(TdNotice *notice, GtkOverlay *overlay);
void td_notice_clear(TdNotice *notice);

/* td_notice_say shows `text` in place of what was said before. */
void td_notice_say(TdNotice *notice, const char *text);
