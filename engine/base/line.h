/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lines: what people get to see of a tape's texts. A name with a newline would forge a line, and a
 * small tape may use one name of 60,000 bytes in a million events. So people get one line of a
 * bounded length. JSON has the whole text. Any thread; no state. */
#pragma once

#include <stddef.h>

#define TD_NAME_SHOWN 200  /* bytes of one name */
#define TD_TEXT_SHOWN 1000 /* bytes of an error, a mark, a path: of what is more than a name */

/* td_line_cut returns how many bytes of a text to show: all, or fewer than max. If it is fewer,
 * the rest is shown as TD_LINE_CUT, and the cut is between two characters of UTF-8. */
#define TD_LINE_CUT "…"
size_t td_line_cut(const char *text, size_t max);

/* td_line_dup returns a text as one line of at most max bytes. td_line_make does the same to a text
 * of the caller's, and returns that. The caller frees both. */
char *td_line_dup(const char *text, size_t max);
char *td_line_make(char *text, size_t max);
