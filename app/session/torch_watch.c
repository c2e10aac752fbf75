/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/torch_watch.h"

#include <string.h>

#define PERIOD_MS 200
#define N_LOOKS_MAX (120 * 1000 / PERIOD_MS)

struct td_torch_watch {
  pid_t pid;
  td_torch_seen seen;
  void *data;
  guint source, n_looks;
};

/* The path that the map of a process has for PyTorch's library, or NULL. *is_gone: no process. */
static char *
find_library(pid_t pid, gboolean *is_gone) {
  g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)pid), *map = NULL;
  *is_gone = !g_file_get_contents(path, &map, NULL, NULL);
  char *name = map ? strstr(map, "/libtorch_cpu.so") : NULL;
  if (!name) return NULL;
  name[strcspn(name, "\n")] = '\0';
  const char *line = strrchr(map, '\n');
  const char *library = strchr(line ? line : map, '/');
  return g_strdup(library);
}

static gboolean
look_cb(gpointer data) {
  td_torch_watch *self = data;
  gboolean is_gone;
  g_autofree char *library = find_library(self->pid, &is_gone);
  if (!library && !is_gone && ++self->n_looks < N_LOOKS_MAX) return G_SOURCE_CONTINUE;
  self->source = 0;
  if (library) self->seen(self->pid, library, self->data);
  return G_SOURCE_REMOVE;
}

td_torch_watch *
td_torch_watch_new(pid_t pid, td_torch_seen seen, void *data) {
  td_torch_watch *self = g_new0(td_torch_watch, 1);
  *self = (td_torch_watch){.pid = pid, .seen = seen, .data = data};
  self->source = g_timeout_add(PERIOD_MS, look_cb, self);
  return self;
}

void
td_torch_watch_free(td_torch_watch *self) {
  if (!self) return;
  if (self->source) g_source_remove(self->source);
  g_free(self);
}
