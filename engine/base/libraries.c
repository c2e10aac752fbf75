/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/libraries.h"

#include "engine/base/forks.h"

#include <dlfcn.h>

static pthread_mutex_t walking = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void
watch_forks(void) {
  td_fork_guard(&walking, TD_FORK_LIBRARIES);
}

void
td_libraries_walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data) {
  pthread_mutex_lock(&walking);
  dl_iterate_phdr(visit, data);
  pthread_mutex_unlock(&walking);
}

void *
td_libraries_find(const char *path) {
  pthread_mutex_lock(&walking);
  void *found = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
  pthread_mutex_unlock(&walking);
  return found;
}
