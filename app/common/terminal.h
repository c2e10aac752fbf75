/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Terminal: the one place where texts leave this program. Names on a tape, paths and errors of
 * other programs may hold sequences for a terminal. These move the cursor, set the title, or type
 * for the user. So standard output and standard error are streams that escape what no terminal may
 * get:
 *
 * - control characters (U+0000 to U+001F, U+007F to U+009F), but not tab and newline,
 * - the marks, embeddings, overrides and isolates of bidirectional text, and U+2028 and U+2029:
 *   these make a line look like another. All of these become \uXXXX.
 * - bytes that are no UTF-8: these become \xXX.
 *
 * JSON has no raw control characters. Its strings may have the others, and there \uXXXX means the
 * same character. So JSON passes through here too, and its content stays what it was. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* td_terminal_guard puts the guarded streams in the place of stdout and stderr, and makes GLib's
 * messages use them. Call it first; main thread. */
void td_terminal_guard(void);

/* td_terminal_control writes a sequence of our own to standard error as it is, such as "\r\033[K".
 */
void td_terminal_control(const char *sequence);

/* td_terminal_escape escapes n bytes. It returns the number of bytes that it has taken, and sets
 * *text (free it) and *length. It leaves a character that the n bytes do not complete, unless they
 * are the last ones. Pure. */
size_t td_terminal_escape(const char *bytes, size_t n, bool last, char **text, size_t *length);
