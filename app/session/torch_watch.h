/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Notices that a process has loaded PyTorch, long before its first backward pass. The process
 * does nothing for that: the watch looks at its memory map, a few times a second. Main thread. */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef struct td_torch_watch td_torch_watch;

/* `library` is the path of libtorch_cpu.so, borrowed for the call. */
typedef void (*td_torch_seen)(pid_t pid, const char *library, void *data);

/* td_torch_watch_new calls `seen` once, from the default main context. It never does if the process
 * ends before, or loads no PyTorch within two minutes. Children of the process do not count. */
td_torch_watch *td_torch_watch_new(pid_t pid, td_torch_seen seen, void *data);
void td_torch_watch_free(td_torch_watch *self);
