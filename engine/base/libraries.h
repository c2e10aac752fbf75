/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <link.h>
#include <stddef.h>

/* td_libraries_walk calls dl_iterate_phdr, and td_libraries_find finds a library that is loaded, by
 * its path, or NULL. A fork waits for both. The C library has a lock for its list of libraries: if
 * another thread held it, it stays locked in the child. Any thread. `visit` may take no mutex of
 * forks.h. */
void td_libraries_walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *data),
                       void *data);
void *td_libraries_find(const char *path);
