/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A PyTorch on this machine, as its files show it: what an observer is compiled against. No
 * library is loaded and no program runs. Any thread. */
#pragma once

#include <gio/gio.h>

typedef struct td_torch_files {
  char *library, *c10; /* (owned) libtorch_cpu.so and libc10.so, their real paths */
  char *headers;       /* (owned) the folder with torch/ in it */
  char *version;       /* (owned) "2.13.0+cpu", "1.13.0", "2.16.0a0" */
  char *package;       /* (owned) where Python finds the package torch, or NULL: its own folders */
  const char *cxx11_abi; /* "0" or "1": the layout of its strings */
} td_torch_files;

/* td_torch_files_find looks around a libtorch_cpu.so. If something is missing, it returns FALSE
 * with the reason; its words follow "level 2, because". Clear in both cases. */
gboolean td_torch_files_find(td_torch_files *self, const char *libtorch_cpu, GError **error);
void td_torch_files_clear(td_torch_files *self);
