/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/process_tree.h"

#include "app/common/process_facts.h"

#include <stdbool.h>
#include <string.h>

#define FOUND_MAX 64

static bool
has_torch(pid_t pid) {
  g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)pid);
  g_autofree char *maps = NULL;
  return g_file_get_contents(path, &maps, NULL, NULL) &&
         (strstr(maps, "/libtorch_cpu.so") || strstr(maps, "/libtorch.so"));
}

static bool
is_of(pid_t pid, pid_t root) {
  while (pid > 1 && pid != root)
    pid = td_process_get_parent(pid);
  return pid == root;
}

static int
compare_pids(gconstpointer left, gconstpointer right) {
  pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
  return (a > b) - (a < b);
}

GArray *
td_process_tree_find_torch(pid_t root) {
  GArray *found = g_array_new(FALSE, FALSE, sizeof(pid_t));
  g_autoptr(GDir) dir = g_dir_open("/proc", 0, NULL);
  for (const char *name; dir && found->len < FOUND_MAX && (name = g_dir_read_name(dir));) {
    guint64 number;
    if (!g_ascii_string_to_unsigned(name, 10, 1, G_MAXINT32, &number, NULL)) continue;
    pid_t pid = (pid_t)number;
    if (is_of(pid, root) && has_torch(pid)) g_array_append_val(found, pid);
  }
  g_array_sort(found, compare_pids);
  return found;
}
