/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/process.h"

#include "app/common/process_facts.h"
#include "app/session/attach/doing.h"
#include "app/session/attach/native.h"
#include "app/session/attach/obstacle.h"
#include "engine/control/link.h"

#define PATIENCE_S 4

static td_attach_process *
process_new(pid_t pid, const char *command) {
  td_attach_process *self = g_new0(td_attach_process, 1);
  self->pid = (guint32)pid;
  self->command = g_strdup(command);
  return self;
}

void
td_attach_process_free(gpointer data) {
  td_attach_process *self = data;
  if (self->replay) td_replay_close(self->replay);
  if (self->threads) td_attach_threads_free(self->threads);
  g_free(self->silence);
  g_free(self->command);
  g_free(self);
}

/* ---- a program that is recorded ---- */

static bool
ask_where(const td_session_program *program, td_line *reply) {
  td_line_text question;
  td_link *link = NULL;
  td_error error = {0};
  td_status status = td_link_connect(program->session, &link, &error);
  td_error_clear(&error);
  if (status) return false;
  td_link_set_patience(link, PATIENCE_S);
  td_line_begin(&question, "where");
  td_line_add_number(&question, "pid", program->pid);
  status = td_link_ask(link, &question, reply, &error);
  td_line_text_fini(&question);
  td_error_clear(&error);
  td_link_close(link);
  if (status) return false;
  if (td_line_is(reply, "where")) return true;
  td_line_fini(reply);
  return false;
}

static void
take_answer(td_attach_process *self, const td_line *reply) {
  const char *text = td_line_find(reply, "text"), *problem = td_line_find(reply, "problem");
  if (!text) {
    self->silence = g_utf8_make_valid(problem ? problem : "the program gives no reason", -1);
    return;
  }
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  self->threads = td_attach_threads_new();
  self->threads->is_held = td_line_flag(reply, "held");
  td_attach_threads_read(self->threads, valid);
}

void
td_attach_process_take_replay(td_attach_process *self, td_replay *replay, uint64_t seq) {
  self->replay = replay;
  self->seq = seq;
  if (!self->threads) return;
  td_attach_doing_tell(self->threads, replay);
  self->threads->still_ns = td_attach_process_age_ns(self);
}

td_attach_process *
td_attach_process_ask(const td_session_program *program) {
  td_line reply;
  td_attach_process *self = process_new((pid_t)program->pid, program->command);
  self->program = program;
  if (!program->tape) return self;
  if (ask_where(program, &reply)) {
    take_answer(self, &reply);
    td_line_fini(&reply);
  } else {
    self->silence = td_obstacle_find_stop((pid_t)program->pid);
    if (!self->silence) self->silence = g_strdup("the program does not answer");
  }
  return self;
}

/* ---- a program that nobody records ---- */

td_attach_process *
td_attach_process_look(pid_t pid) {
  char *problem = NULL;
  gint64 begun_us = g_get_monotonic_time();
  g_autofree char *command = td_process_dup_command(pid);
  td_attach_threads *threads = td_attach_native_read(pid, &problem);
  if (!threads && !problem) return NULL;
  td_attach_process *self = process_new(pid, command);
  self->threads = threads;
  self->silence = problem;
  self->looked_s = (double)(g_get_monotonic_time() - begun_us) / G_USEC_PER_SEC;
  return self;
}

/* ---- facts ---- */

gint64
td_attach_process_age_ns(const td_attach_process *self) {
  const td_tape_info *info = td_tape_info_get(td_replay_tape(self->replay));
  guint64 last = info->started_ns + td_replay_state(self->replay)->header->time_ns;
  return MAX(0, g_get_real_time() * 1000 - (gint64)last);
}

int
td_attach_process_rank(const td_attach_process *self) {
  return self->replay ? td_replay_catalog(self->replay)->processes[0].rank : -1;
}
