/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the kernel tells of a process of this user. Any thread; no state. */
#pragma once

#include <glib.h>
#include <sys/types.h>

/* td_process_dup_command returns a process's command line as one line of UTF-8, or NULL if there is
 * no such process. The caller frees it. */
char *td_process_dup_command(pid_t pid);

/* td_process_get_parent returns the process that started another one, or 0. */
pid_t td_process_get_parent(pid_t pid);

/* td_process_get_seconds returns for how many seconds a process has existed, or -1. */
gint64 td_process_get_seconds(pid_t pid);
