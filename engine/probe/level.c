/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/level.h"

#include "engine/base/alloc.h"
#include "engine/base/trust.h"
#include "engine/probe/hooks.h"

#include <dlfcn.h>
#include <stdio.h>

static void
choose(td_level *self, int number, const char *reason) {
  self->number = number;
  free(self->reason);
  self->reason = td_dup_string(reason ? reason : "the engine itself is observed");
}

/* Level 2: Python is asked once the thread holds nothing, see td_probe_start_scripts. */
static void
use_hooks(td_level *self, const char *reason) {
  choose(self, 2, reason ? reason : "asked for");
  self->observer = td_hooks_observer();
}

/* NULL with a reason. Nobody else can change what lies at a path that td_trust_check trusts. */
static void *
open_trusted(const char *path, td_error *error) {
  char *real = NULL;
  if (td_trust_check(path, &real, error)) return NULL;
  void *library = dlopen(real, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) td_error_set(error, TD_IO, "%s", dlerror());
  free(real);
  return library;
}

static void
load_observer(td_level *self, const char *path) {
  td_error error = {0};
  void *library = path ? open_trusted(path, &error) : NULL;
  const td_observer *(*get)(void) =
      library ? (const td_observer *(*)(void))dlsym(library, "td_observer_get") : NULL;
  if (!get) {
    if (!library && !path) td_error_set(&error, TD_IO, "no observer was named");
    if (library) td_error_set(&error, TD_IO, "%s is no observer", path);
    fprintf(stderr, "tapedeck: not recorded: %s\n", td_error_text(&error));
    td_error_clear(&error);
    return;
  }
  self->observer = get();
  choose(self, 1, NULL);
  if (self->observer->attach()) return;
  fprintf(stderr, "tapedeck: not recorded: nothing of PyTorch's engine was found to watch\n");
  self->observer = NULL;
}

void
td_level_choose(td_level *self, const td_orders *orders) {
  if (orders->hooks)
    use_hooks(self, orders->reason);
  else
    load_observer(self, orders->observer);
}
