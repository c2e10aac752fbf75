/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Why a process cannot be looked into, or does not answer. The kernel alone decides that. Here it
 * is said so that people know what to do. Main thread. */
#pragma once

#include <sys/types.h>

/* td_obstacle_find returns why this process may not look into another one: a sentence without a
 * full stop. NULL: nothing is known to forbid it. The caller frees it. */
char *td_obstacle_find(pid_t pid);

/* td_obstacle_find_stop returns the same about a process that a signal has stopped, or NULL. It
 * could call no function for gdb. */
char *td_obstacle_find_stop(pid_t pid);
