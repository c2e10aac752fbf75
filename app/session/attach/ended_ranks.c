/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/ended_ranks.h"

#include "app/common/process_facts.h"
#include "app/session/attach/process.h"
#include "app/session/attach/rank.h"
#include "engine/trace/tape.h"

#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>

#define SUFFIX ".tape"
#define TAPES_MAX 256
#define EVENTS_READ 1000
#define NS_PER_S G_GUINT64_CONSTANT(1000000000)

typedef struct search {
  GPtrArray *ranks;
  guint64 since_s; /* when the recording began */
} search;

static bool
has_rank(const GPtrArray *ranks, int rank) {
  for (guint i = 0; i < ranks->len; i++)
    if (((td_attach_rank *)ranks->pdata[i])->rank == rank) return true;
  return false;
}

/* A process says so among its first events. -1: it has none. */
static int
read_rank(td_tape *tape) {
  td_any_event event;
  td_error error = {0};
  guint64 n = MIN(td_tape_info_get(tape)->n_events, EVENTS_READ);
  int rank = -1;
  for (guint64 i = 0; i < n && rank < 0 && td_tape_get(tape, i, &event, &error) == TD_OK; i++)
    if (event.event.kind == TD_EVENT_process_new) rank = event.process_new.rank;
  td_error_clear(&error);
  return rank;
}

/* Takes the tape, or returns false. */
static bool
add_rank(const search *self, guint32 pid, td_tape *tape) {
  const td_tape_info *info = td_tape_info_get(tape);
  int rank = info->started_ns / NS_PER_S < self->since_s ? -1 : read_rank(tape);
  if (rank < 0 || has_rank(self->ranks, rank)) return false;
  td_attach_rank *made = g_new0(td_attach_rank, 1);
  made->rank = rank;
  made->pid = pid;
  made->is_gone = true;
  made->n_begun = info->n_by_kind[TD_EVENT_graph_task_begin];
  made->n_ended = info->n_by_kind[TD_EVENT_graph_task_end];
  made->in_pass = made->n_begun > made->n_ended;
  made->tape = tape;
  g_ptr_array_add(self->ranks, made);
  return true;
}

/* A tape that cannot be read tells nothing. */
static void
read_tape(const search *self, const char *path, guint32 pid) {
  td_tape *tape;
  td_error error = {0};
  if (td_tape_open(path, &tape, &error)) {
    td_error_clear(&error);
    return;
  }
  if (!add_rank(self, pid, tape)) td_tape_close(tape);
}

/* The number in PREFIX.NUMBER.tape, or 0. */
static guint32
read_pid(const char *name, const char *prefix) {
  char *end;
  if (!g_str_has_prefix(name, prefix)) return 0;
  guint64 number = g_ascii_strtoull(name + strlen(prefix), &end, 10);
  return strcmp(end, SUFFIX) == 0 && number <= G_MAXINT32 ? (guint32)number : 0;
}

/* One that nobody has waited for has no command any more. */
static bool
is_there(pid_t pid) {
  g_autofree char *command = td_process_dup_command(pid);
  return command != NULL;
}

static void
look_into(const search *self, const char *folder, const char *prefix) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  guint n = 0;
  for (const char *name; dir && n < TAPES_MAX && (name = g_dir_read_name(dir));) {
    guint32 pid = read_pid(name, prefix);
    if (pid == 0 || is_there((pid_t)pid)) continue;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    read_tape(self, path, pid);
    n++;
  }
}

/* The tape of a process is PREFIX.PID.tape. */
static void
look_beside(GPtrArray *ranks, const td_attach_process *process) {
  GStatBuf info;
  if (g_stat(process->program->session, &info) != 0) return;
  search self = {.ranks = ranks, .since_s = (guint64)info.st_mtime};
  g_autofree char *folder = g_path_get_dirname(process->program->tape);
  g_autofree char *prefix = g_path_get_basename(process->program->tape);
  g_autofree char *end = g_strdup_printf(".%u" SUFFIX, process->pid);
  if (!g_str_has_suffix(prefix, end)) return;
  prefix[strlen(prefix) - strlen(end) + 1] = '\0';
  look_into(&self, folder, prefix);
}

/* The tapes of one recording lie side by side. */
void
td_attach_ended_ranks_add(GPtrArray *ranks, const GPtrArray *processes) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < processes->len; i++) {
    const td_attach_process *process = processes->pdata[i];
    if (process->replay && g_hash_table_add(seen, process->program->session))
      look_beside(ranks, process);
  }
}
