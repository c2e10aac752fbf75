/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * JSON inside a page of HTML. A tape may come from a stranger, and its names may be HTML. So what
 * HTML or a script could take for its own is written as JSON's escapes. Private to ui/page. */
#pragma once

#include <stdio.h>

/* td_page_embed_open returns a stream for JSON. Its bytes go on to `out`, but for <, > and &, and
 * the two characters of Unicode that end a line of JavaScript: these become escapes. Only strings
 * of JSON have such. NULL without memory. The caller closes the stream, and then goes on with
 * `out`. */
FILE *td_page_embed_open(FILE *out);
