/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/motion.h"

#include <stdbool.h>
#include <string.h>

typedef struct account {
  char state;     /* as in /proc/PID/stat: R, S, D, ... */
  guint64 ran_ns; /* on a core, ever */
} account;

struct td_motions {
  GHashTable *threads; /* (owned) of account, by number */
};

static bool
read_account(pid_t pid, const char *lwp, account *account) {
  g_autofree char *stat_path = g_strdup_printf("/proc/%d/task/%s/stat", (int)pid, lwp),
                  *time_path = g_strdup_printf("/proc/%d/task/%s/schedstat", (int)pid, lwp),
                  *stat = NULL, *times = NULL;
  if (!g_file_get_contents(stat_path, &stat, NULL, NULL) ||
      !g_file_get_contents(time_path, &times, NULL, NULL))
    return false;
  const char *name_end = strrchr(stat, ')');
  if (!name_end || strlen(name_end) < strlen(") R")) return false;
  account->state = name_end[2];
  account->ran_ns = g_ascii_strtoull(times, NULL, 10);
  return true;
}

td_motions *
td_motion_look(pid_t pid) {
  td_motions *self = g_new0(td_motions, 1);
  self->threads = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)pid);
  g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
  const char *lwp;
  account now;
  while (folder && (lwp = g_dir_read_name(folder)))
    if (read_account(pid, lwp, &now))
      g_hash_table_insert(self->threads, GUINT_TO_POINTER(g_ascii_strtoull(lwp, NULL, 10)),
                          g_memdup2(&now, sizeof now));
  return self;
}

void
td_motions_free(td_motions *self) {
  g_hash_table_unref(self->threads);
  g_free(self);
}

td_motion
td_motion_between(const td_motions *before, const td_motions *after, guint32 lwp) {
  const account *first = g_hash_table_lookup(before->threads, GUINT_TO_POINTER(lwp)),
                *second = g_hash_table_lookup(after->threads, GUINT_TO_POINTER(lwp));
  if (!first || !second) return TD_MOTION_UNKNOWN;
  if (first->ran_ns != second->ran_ns || first->state == 'R' || second->state == 'R')
    return TD_MOTION_RUNS;
  return TD_MOTION_SLEEPS;
}
