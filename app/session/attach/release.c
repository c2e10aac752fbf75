/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/release.h"

#include "engine/control/link.h"

#include <string.h>

#define PATIENCE_US (5 * G_USEC_PER_SEC)
#define PAUSE_US (G_USEC_PER_SEC / 20)

static void
say(td_link *link, const char *word, guint32 pid) {
  td_line_text text;
  td_line_begin(&text, word);
  td_line_add_number(&text, "pid", pid);
  td_link_report(link, &text);
  td_line_text_fini(&text);
}

static bool
tell_to_go(const td_session_program *program) {
  td_link *link = NULL;
  td_error error = {0};
  td_status status = td_link_connect(program->session, &link, &error);
  td_error_clear(&error);
  if (status) return false;
  say(link, "view", program->pid);
  say(link, "detach", program->pid);
  td_link_close(link);
  return true;
}

/* A program that has ended stands still no more. */
static bool
stands_still(const td_session_program *program) {
  g_autoptr(GPtrArray) programs = td_session_list();
  for (guint i = 0; i < programs->len; i++) {
    const td_session_program *now = programs->pdata[i];
    if (now->pid == program->pid && strcmp(now->session, program->session) == 0)
      return now->n_stopped > 0;
  }
  return false;
}

static bool
wait_until_it_goes(const td_session_program *program) {
  gint64 end_us = g_get_monotonic_time() + PATIENCE_US;
  while (stands_still(program)) {
    if (g_get_monotonic_time() > end_us) return false;
    g_usleep(PAUSE_US);
  }
  return true;
}

char *
td_attach_release(const td_session_program *program, bool *done) {
  *done = true;
  if (!program->can_stop)
    return g_strdup_printf("Process %u has no gate: nothing holds it.", program->pid);
  *done = tell_to_go(program) && wait_until_it_goes(program);
  if (!*done) return g_strdup_printf("Process %u does not answer.", program->pid);
  if (program->n_stopped == 0)
    return g_strdup_printf("Process %u did not stand still. It runs on, and nothing stops it now.",
                           program->pid);
  return g_strdup_printf("Process %u stood still, and runs on. It is still recorded.",
                         program->pid);
}
