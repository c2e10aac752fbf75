/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Compiling an observer against the headers of a PyTorch, as engine/probe/observer.def says. Any
 * thread. */
#pragma once

#include "app/session/observer/subprocess.h"
#include "app/session/observer/torch_files.h"

typedef struct td_observer_compiler {
  char *path;    /* (owned) */
  char *version; /* (owned) its first line of --version */
} td_observer_compiler;

/* td_observer_compiler_find takes $CXX, or the first compiler of the usual names. FALSE with the
 * reason: there is none. Clear in both cases. */
gboolean td_observer_compiler_find(td_observer_compiler *self, GError **error);
void td_observer_compiler_clear(td_observer_compiler *self);

/* td_observer_add_sources adds to `sum` all that an observer is made of. FALSE with the reason: a
 * file is missing. */
gboolean td_observer_add_sources(GChecksum *sum, GError **error);

/* td_observer_compile makes the library `output`, and adds commands and messages to `log`. FALSE
 * with the compiler's first complaint. *is_final tells whether another try would give the same. */
gboolean td_observer_compile(const td_observer_compiler *self, const td_torch_files *torch,
                             const char *output, const td_progress *progress, GString *log,
                             gboolean *is_final, GError **error);
