/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/relay_session.h"

#include "app/session/session_list.h"
#include "engine/control/link.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* The program's own environment names its session. That also holds if ssh has other variables, and
 * the session's folder is where nobody else looks. */
static char *
find_by_environment(guint32 pid) {
  g_autofree char *file = g_strdup_printf("/proc/%u/environ", pid);
  g_autofree char *words = NULL;
  gsize n_bytes;
  if (!g_file_get_contents(file, &words, &n_bytes, NULL)) return NULL;
  for (const char *word = words; word < words + n_bytes; word += strlen(word) + 1)
    if (g_str_has_prefix(word, TD_LINK_VARIABLE "="))
      return g_strdup(word + strlen(TD_LINK_VARIABLE "="));
  return NULL;
}

/* The process itself, or the first that it has started. */
static char *
find_by_list(guint32 *pid) {
  g_autoptr(GPtrArray) programs = td_session_list();
  const td_session_program *found = NULL;
  for (guint i = 0; i < programs->len; i++) {
    const td_session_program *program = programs->pdata[i];
    bool is_better = program->pid == *pid || !found;
    if (is_better && td_session_program_is_of(program, (pid_t)*pid)) found = program;
  }
  if (!found) return NULL;
  *pid = found->pid;
  return g_strdup(found->session);
}

static const char *
why_none(guint32 pid) {
  int error = kill((pid_t)pid, 0) == 0 ? 0 : errno;
  return error == ESRCH   ? "there is no such process"
         : error == EPERM ? "that process is another user's"
                          : "that process is not recorded: start it with `tapedeck record --live`";
}

int
td_relay_session_connect(guint32 *pid, char **problem) {
  td_error error = {0};
  int fd = -1;
  guint32 asked = *pid;
  g_autofree char *session = find_by_list(pid);
  if (!session) session = find_by_environment(*pid);
  if (!session)
    *problem = g_strdup_printf("process %u: %s", asked, why_none(asked));
  else if (td_link_dial(session, &fd, &error))
    *problem = g_strdup_printf("process %u: %s", asked, td_error_text(&error));
  td_error_clear(&error);
  return fd;
}
