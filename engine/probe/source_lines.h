/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The text of the program's lines that are in stacks. A file may change while the program runs. So
 * a line is read only if its file is as old as the program: neither its contents nor its inode has
 * changed since the process began, or its ancestors that run the same executable. Libraries' lines
 * are left out. */
#pragma once

/* td_source_lines_note reads a line when it is met first, and tells it. It wants the GIL, calls
 * nothing of Python and leaves errno as it was. */
void td_source_lines_note(const char *file, int line);

/* td_source_lines_tell tells all lines that are known: a tape begins. Any thread. */
void td_source_lines_tell(void);
