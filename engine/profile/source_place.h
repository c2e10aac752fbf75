/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where in the user's program a node was made: the line of its stack that is no library's. Any
 * thread. */
#pragma once

#include <stdbool.h>

/* td_source_is_library returns true for a file of an installed package, of PyTorch or of Tapedeck,
 * and for a line without a file. */
bool td_source_is_library(const char *file);

/* td_source_place returns "net.py:9" of a stack: its innermost line that is no library's, else its
 * innermost line. NULL if no line can be read. The caller frees. td_source_place_whole returns the
 * same with the file's folder. */
char *td_source_place(const char *stack);
char *td_source_place_whole(const char *stack);
