/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/announcer.h"

void
td_announcer_say(const td_announcer *announcer, const char *format, ...) {
  if (!announcer) return;
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  announcer->say(text, announcer->data);
}

void
td_announcer_begin(const td_announcer *announcer, const char *format, ...) {
  if (!announcer) return;
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  announcer->begin(text, announcer->data);
}

void
td_announcer_count(const td_announcer *announcer, int seconds) {
  if (announcer) announcer->count(seconds, announcer->data);
}

void
td_announcer_end(const td_announcer *announcer) {
  if (announcer) announcer->end(announcer->data);
}
