/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/notice.h"

#define SECONDS_SHOWN 3

/* libadwaita 1.2 uses a toast after it is freed if somebody dismisses it while it appears, for up
 * to 0.5 s. A toast of this age appeared long ago. */
#define SETTLED_AFTER G_USEC_PER_SEC

void
td_notice_clear(TdNotice *notice) {
  g_clear_object(&notice->toast);
}

void
td_notice_say(TdNotice *notice, AdwToastOverlay *overlay, const char *text) {
  gint64 now = g_get_monotonic_time();
  if (notice->toast && now - notice->since < SETTLED_AFTER) {
    adw_toast_set_title(notice->toast, text);
    return;
  }
  if (notice->toast) adw_toast_dismiss(notice->toast);
  td_notice_clear(notice);
  *notice = (TdNotice){g_object_ref(adw_toast_new(text)),
                       now}; /* the overlay takes the first reference */
  adw_toast_set_timeout(notice->toast, SECONDS_SHOWN);
  adw_toast_overlay_add_toast(overlay, notice->toast);
}
