/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/keep_session.h"

#include <signal.h>

static void
start(td_keep_session *self) {
  self->flight = td_flight_new(self->tape, self->choice->every_us, self->announcer);
  self->child->own_signal = TD_KEEP_SIGNAL;
}

void
td_keep_session_begin(td_keep_session *self) {
  if (self->choice->words) start(self);
}

/* The program has checked the words. */
static void
keep_from_now(td_keep_session *self, const char *tape, const td_line *line) {
  td_keep_limit limit;
  const char *words = td_line_find(line, "words");
  if (!words || td_keep_limit_read(td_line_find(line, "limit"), &limit)) return;
  if (!self->flight) start(self);
  td_flight_add(self->flight, tape, &limit, words);
}

void
td_keep_session_said(td_keep_session *self, const char *tape, const td_line *line) {
  if (td_line_is(line, "keep")) keep_from_now(self, tape, line);
  if (td_line_is(line, "dump") && self->flight)
    td_flight_dump(self->flight, "program", "the program asked", NULL, NULL);
}

/* Somebody waits for a dump, or did: they may hang up before it is written. */
typedef struct asker {
  td_hub_target *peer; /* NULL once it has gone */
} asker;

static void
asker_gone_cb(gpointer data) {
  ((asker *)data)->peer = NULL;
  g_rc_box_release(data);
}

static void
tell_dump(td_hub_target *peer, const char *path, const char *problem) {
  td_line_text line;
  td_line_begin(&line, "dumped");
  td_line_add(&line, "path", path);
  td_line_add(&line, "problem", problem);
  td_hub_target_answer(peer, &line);
  td_line_text_fini(&line);
}

static void
dumped_cb(const char *path, void *data) {
  asker *self = data;
  if (self->peer) tell_dump(self->peer, path, path ? NULL : "there is no tape yet");
  g_rc_box_release(self);
}

void
td_keep_session_dump(td_keep_session *self, td_hub_target *peer) {
  if (!self->flight) {
    tell_dump(peer, NULL, "it is recorded without --keep, and no process called keep()");
    return;
  }
  asker *made = g_rc_box_new0(asker);
  made->peer = peer;
  td_hub_target_set_data(peer, g_rc_box_acquire(made), asker_gone_cb);
  td_flight_dump(self->flight, "asked", "somebody asked", dumped_cb, made);
}

bool
td_keep_session_signalled(td_keep_session *self, int number) {
  if (number != TD_KEEP_SIGNAL || !self->flight) return false;
  td_flight_dump(self->flight, "asked", "somebody asked", NULL, NULL);
  return true;
}

void
td_keep_session_end(td_keep_session *self) {
  if (self->flight) td_flight_finish(self->flight);
  while (g_main_context_iteration(NULL, FALSE))
    continue;
  g_clear_pointer(&self->flight, td_flight_free);
}
