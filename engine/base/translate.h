/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine's words in the reader's language. English stands in the source, translations in
 * resources/po. The window binds the domain. In every other program the words stay English. */
#pragma once

#include <libintl.h>
#include <stddef.h>

#define TD_TEXT_DOMAIN "tapedeck"

/* TD_N marks a text for translation where a table holds it. td_translate returns its translation,
 * or the text itself; for "" gettext has another answer. The string is constant. Any thread. */
#define TD_N(text) text

static inline const char *td_translate(const char *text) __attribute__((format_arg(1)));

static inline const char *
td_translate(const char *text) {
  const char *translated = *text ? dgettext(TD_TEXT_DOMAIN, text) : NULL;
  return translated ? translated : text; /* so that gcc knows: never NULL */
}
