/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The threads of a program that nobody records: gdb looks into it. Main thread. */
#pragma once

#include "app/session/attach/threads.h"

/* td_attach_native_read stops a process for some seconds, reads its threads' stacks in C and in
 * Python, and lets it go on. The caller frees the result. NULL: it could not be read. *problem says
 * why in a sentence without a full stop (free it), or is NULL after Ctrl+C. */
td_attach_threads *td_attach_native_read(pid_t pid, char **problem);
