/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/leftovers.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define LEFTOVERS_MAX 64

/* The last two: we, or GLib, ran out of memory. */
static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGTRAP};
static _Atomic(char *) leftovers[LEFTOVERS_MAX]; /* (owned) the handler reads them */

/* Async-signal-safe. The signal waits until its handler returns, and then has its default effect.
 */
static void
handler(int number) {
  for (int i = LEFTOVERS_MAX; i-- > 0;) {
    const char *path = atomic_load(&leftovers[i]);
    if (path && unlink(path) != 0) rmdir(path);
  }
  raise(number);
}

static void
install_handlers(void) {
  struct sigaction before, action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};
  for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
    if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(signals[i], &action, NULL);
}

void
td_leftovers_add(const char *path) {
  install_handlers();
  for (int i = 0; i < LEFTOVERS_MAX; i++) {
    if (atomic_load(&leftovers[i])) continue;
    atomic_store(&leftovers[i], g_strdup(path));
    return;
  }
}

void
td_leftovers_forget(const char *path) {
  for (int i = 0; i < LEFTOVERS_MAX; i++) {
    char *leftover = atomic_load(&leftovers[i]);
    if (!leftover || strcmp(leftover, path) != 0) continue;
    atomic_store(&leftovers[i], NULL);
    g_free(leftover);
    return;
  }
}

char *
td_leftovers_make_folder(const char *name, GError **error) {
  sigset_t waiting, before;
  sigemptyset(&waiting);
  for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
    sigaddset(&waiting, signals[i]);
  sigprocmask(SIG_BLOCK, &waiting, &before);
  char *folder = g_dir_make_tmp(name, error);
  if (folder) td_leftovers_add(folder);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return folder;
}
