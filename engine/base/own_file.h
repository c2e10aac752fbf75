/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A descriptor of ours in somebody else's program. The program may close descriptors that it did
 * not open, as daemons do. The number may then be a file of the program. So whoever reads, writes
 * or closes asks first whether the file is still the one that was opened. A program that closes
 * and opens on another thread between the question and the use is not noticed. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct td_own_file {
  int fd; /* (owned) or -1 */
  dev_t device;
  ino_t number;
} td_own_file;

/* td_own_file_init takes the descriptor. It moves away from the numbers of the standard files: if
 * the program has none, what it prints must not come into ours. Do not give it an eventfd: those
 * share one inode, so no question tells them apart. */
td_own_file td_own_file_init(int fd);

/* td_own_file_is_there returns true if the descriptor is still that file's. td_own_file_close
 * closes it only then, and returns 0 or the errno of close. Both are async-signal-safe. */
bool td_own_file_is_there(const td_own_file *file);
int td_own_file_close(const td_own_file *file);
