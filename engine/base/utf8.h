/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Texts of a tape may be any bytes. Formats and libraries want UTF-8. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* td_utf8_length returns the length of the valid character at `text`, which ends with a zero, or 0.
 */
int td_utf8_length(const unsigned char *text);

/* td_utf8_is_valid tells whether the first n bytes are UTF-8. td_utf8_dup returns them with U+FFFD
 * for each byte that is not. td_utf8_make does so to a text of the caller's, and returns that. The
 * caller frees both. */
bool td_utf8_is_valid(const char *text, size_t n);
char *td_utf8_dup(const char *text, size_t n);
char *td_utf8_make(char *text);
