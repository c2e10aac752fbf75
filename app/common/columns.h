/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Columns of tables in a terminal. Main thread. */
#pragma once

/* td_column_print prints a text at the right end of `width` columns, then two spaces. printf would
 * count the bytes of µ and of a dash. */
void td_column_print(const char *text, int width);
