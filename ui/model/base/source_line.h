/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lines of a program that made a node, as a forward stack gives them. A stack comes in one of
 * three forms. Tapedeck writes "model.py:12 forward", one a line, the innermost last. Python's own
 * traceback has the innermost last too. PyTorch's profiler writes "model.py(12): forward", the
 * innermost first. Main thread only. */
#pragma once

#include <glib.h>

typedef struct TdSourceLine {
  char *file, *function; /* (owned); function may be "" */
  guint line;
} TdSourceLine;

/* td_source_lines_parse returns the lines of a stack, innermost first: an array of TdSourceLine
 * (owned by it), empty for NULL. */
GPtrArray *td_source_lines_parse(const char *stack);

/* td_source_lines_find_own returns the innermost line that is not inside PyTorch or a library: what
 * its author calls the model. Without such a line it returns the innermost of all; NULL for no
 * lines. */
const TdSourceLine *td_source_lines_find_own(GPtrArray *lines);

/* td_source_line_dup_short returns "model.py:12" of a stack's own line, or NULL. */
char *td_source_line_dup_short(const char *stack);

/* td_source_line_dup_text reads the line itself from its file, without its indentation. It returns
 * NULL if the file cannot be read. */
char *td_source_line_dup_text(const TdSourceLine *self);
