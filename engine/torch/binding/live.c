/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/binding/live.h"

#include "engine/control/choose.h"
#include "engine/control/gate.h"
#include "engine/control/where.h"
#include "engine/torch/binding/whereabouts.h"
#include "engine/torch/pass/steer.h"

#include <pthread.h>
#include <unistd.h>

static td_link *own_link; /* (owned) of this process, or NULL */
static bool may_keep;     /* the hub has a flight recorder */

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static td_recorder *asked; /* (borrowed) what is recorded now (guarded by asking), or NULL */

static void
flush_cb(void *recorder) {
  td_recorder_flush(recorder);
}

/* ---- somebody asks where the program is; on the listener's thread ---- */

static void
set_asked(td_recorder *recorder) {
  pthread_mutex_lock(&asking);
  asked = recorder;
  pthread_mutex_unlock(&asking);
}

static void
flush(void) {
  pthread_mutex_lock(&asking);
  if (asked) td_recorder_flush(asked);
  pthread_mutex_unlock(&asking);
}

static bool
hear(const td_line *command) {
  return td_where_answer(command, own_link, flush, tdpy_whereabouts_add);
}

/* ---- the session ---- */

static td_status
say_hello(const char *path, const char *program, td_line *reply, td_error *error) {
  td_line_text hello;
  td_line_begin(&hello, "hello");
  td_line_add_number(&hello, "pid", getpid());
  td_line_add(&hello, "program", program);
  td_line_add(&hello, "engine", "tapedeck");
  td_status status = td_link_open(path, &hello, reply, &own_link, error);
  td_line_text_fini(&hello);
  return status;
}

static void
tell_tape(const char *tape) {
  td_line_text text;
  td_line_begin(&text, "tape");
  td_line_add(&text, "path", tape);
  td_line_add_number(&text, "level", 1);
  td_link_report(own_link, &text);
  td_line_text_fini(&text);
}

td_status
tdpy_live_hello(const char *path, const char *program, td_line *reply, td_error *error) {
  td_status status;
  Py_BEGIN_ALLOW_THREADS status = say_hello(path, program, reply, error);
  Py_END_ALLOW_THREADS return status;
}

td_status
tdpy_live_open(const td_line *reply, const char *tape, td_recorder *recorder, td_error *error) {
  td_status status;
  td_choose_offer(td_steer_choose);
  td_gate_hear(hear);
  set_asked(recorder);
  Py_BEGIN_ALLOW_THREADS status = td_gate_open(own_link, reply, flush_cb, recorder, error);
  if (!status && !td_line_flag(reply, "live")) td_where_listen(own_link, hear);
  tell_tape(tape); /* whoever hears it may interrupt the program: the gate is there */
  Py_END_ALLOW_THREADS return status;
}

void
tdpy_live_release(void) {
  td_gate_close();
  set_asked(NULL);
}

void
tdpy_live_close(int status) {
  td_line_text text;
  if (!own_link) return;
  td_line_begin(&text, "over");
  td_line_add_number(&text, "status", status);
  td_link_report(own_link, &text);
  td_line_text_fini(&text);
  td_link_close(own_link);
  own_link = NULL;
}

void
tdpy_live_ask_for_dump(void) {
  td_line_text text;
  if (!own_link) return;
  td_line_begin(&text, "dump");
  td_link_report(own_link, &text);
  td_line_text_fini(&text);
}

void
tdpy_live_may_keep(void) {
  may_keep = true;
}

static void
report_keep(const char *limit, const char *words) {
  td_line_text text;
  td_line_begin(&text, "keep");
  td_line_add(&text, "limit", limit);
  td_line_add(&text, "words", words);
  td_link_report(own_link, &text);
  td_line_text_fini(&text);
}

td_status
tdpy_live_keep(td_recorder *recorder, const char *limit, const char *words, td_error *error) {
  if (!own_link || !may_keep) return TD_OK;
  td_status status = td_recorder_keep(recorder, words, error);
  if (!status) report_keep(limit, words);
  return status;
}

void
tdpy_live_abandon(void) {
  if (own_link) td_link_abandon(own_link);
  pthread_mutex_init(&asking, NULL); /* the listener may have held it, and is not here */
  asked = NULL;
  own_link = NULL;
  may_keep = false;
}
