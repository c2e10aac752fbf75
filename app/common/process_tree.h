/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Processes and whom they started. Any thread; no state. */
#pragma once

#include <glib.h>
#include <sys/types.h>

/* td_process_tree_find_torch returns, as pid_t, which of a process and those that it started, near
 * or far, have loaded PyTorch: up to 64 of this user's. The caller drops the array. */
GArray *td_process_tree_find_torch(pid_t root);
