/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/orders.h"

#include "engine/base/alloc.h"
#include "engine/control/gate.h"
#include "engine/control/line.h"
#include "engine/control/link.h"
#include "engine/control/where.h"
#include "engine/probe/numerics.h"
#include "engine/probe/probe.h"
#include "engine/probe/program.h"
#include "engine/probe/steps.h"
#include "engine/probe/whereabouts.h"
#include "engine/trace/keep_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

td_probe_options td_probe_wanted;

/* The tests' way without a hub: what its answer would say. The observer may be "hooks". */
#define OBSERVER_VARIABLE "TAPEDECK_OBSERVER"
#define TAPE_VARIABLE "TAPEDECK_TAPE"
#define ANOMALY_VARIABLE "TAPEDECK_ANOMALY"
#define STATS_VARIABLE "TAPEDECK_STATS"
#define STACKS_VARIABLE "TAPEDECK_STACKS"

/* If it is 0, modules and parameters get no names: `bench` measures what the names cost. */
#define NAMES_VARIABLE "TAPEDECK_NAMES"

static struct {
  td_orders now;
  td_link *link;                 /* (owned) or NULL: no hub, or it is gone */
  td_line answer;                /* the hub's `record` */
  char *tape;                    /* (owned) path, %p for the pid */
  void (*flush)(void);           /* writes what the rings have */
  char limit[TD_KEEP_WORDS_MAX]; /* that the program wants to be kept, or empty */
} orders;

static void
complain(const char *what, td_error *error) {
  fprintf(stderr, "tapedeck: %s: %s\n", what, td_error_text(error));
  td_error_clear(error);
}

static void
say_hello(td_line_text *hello, const char *program) {
  td_line_begin(hello, "hello");
  td_line_add_number(hello, "pid", getpid());
  td_line_add(hello, "program", program);
  td_line_add(hello, "torch", td_program_torch());
  td_line_add(hello, "rank", getenv("RANK"));
}

static void
hang_up(void) {
  if (orders.link) td_link_close(orders.link);
  orders.link = NULL;
}

static bool
ask_hub(const char *path) {
  td_line_text hello;
  td_error error = {0};
  char *program = td_program_name();
  say_hello(&hello, program);
  td_status status = td_link_connect(path, &orders.link, &error);
  if (!status) status = td_link_ask(orders.link, &hello, &orders.answer, &error);
  if (status) hang_up();
  td_line_text_fini(&hello);
  free(program);
  if (status) complain("not recorded", &error);
  return !status && td_line_is(&orders.answer, "record");
}

static void
read_steps(void) {
  const char *until = td_line_find(&orders.answer, "until");
  td_steps_options options = {.to = UINT32_MAX,
                              .every = 1,
                              .until_nan = until && strcmp(until, "nan") == 0,
                              .words = td_line_find(&orders.answer, "steps")};
  td_line_find_u32(&orders.answer, "from", &options.from);
  td_line_find_u32(&orders.answer, "to", &options.to);
  td_line_find_u32(&orders.answer, "every", &options.every);
  td_steps_configure(&options);
}

static void
read_answer(void) {
  const char *tape = td_line_find(&orders.answer, "tape");
  const char *level = td_line_find(&orders.answer, "level");
  td_probe_wanted.stacks = td_line_flag(&orders.answer, "stacks");
  td_numerics_configure(td_line_find(&orders.answer, "anomaly"),
                        td_line_find(&orders.answer, "stats"));
  free(orders.tape);
  orders.tape = tape ? td_dup_string(tape) : NULL;
  orders.now = (td_orders){.hooks = level && strcmp(level, "2") == 0,
                           .observer = td_line_find(&orders.answer, "observer"),
                           .reason = td_line_find(&orders.answer, "reason")};
  read_steps();
}

static void
read_environment(const char *observer, const char *tape) {
  orders.tape = td_dup_string(tape);
  td_numerics_configure(getenv(ANOMALY_VARIABLE), getenv(STATS_VARIABLE));
  td_probe_wanted.stacks = getenv(STACKS_VARIABLE) != NULL;
  orders.now = (td_orders){.hooks = strcmp(observer, "hooks") == 0, .observer = observer};
}

const td_orders *
td_orders_ask(void) {
  const char *observer = getenv(OBSERVER_VARIABLE), *tape = getenv(TAPE_VARIABLE);
  const char *names = getenv(NAMES_VARIABLE);
  td_probe_wanted.names = !names || strcmp(names, "0") != 0;
  if (observer && tape)
    read_environment(observer, tape);
  else if (ask_hub(getenv(TD_LINK_VARIABLE)))
    read_answer();
  return orders.tape ? &orders.now : NULL;
}

bool
td_orders_ask_again(void) {
  const char *hub = getenv(TD_LINK_VARIABLE);
  if (getenv(OBSERVER_VARIABLE) || !hub) return orders.tape != NULL;
  if (!ask_hub(hub)) return false;
  read_answer();
  return orders.tape != NULL;
}

/* What came from the parent's hub is not freed: a thread of the parent may have been changing it.
 */
void
td_orders_abandon(void) {
  if (orders.link) td_link_abandon(orders.link);
  orders.link = NULL;
  orders.answer = (td_line){0};
  if (!getenv(OBSERVER_VARIABLE)) orders.tape = NULL;
}

char *
td_orders_tape(void) {
  const char *tape = orders.tape, *place = strstr(tape, "%p");
  if (!place) return td_dup_string(tape);
  return td_format("%.*s%d%s", (int)(place - tape), tape, (int)getpid(), place + 2);
}

td_ring_policy
td_orders_policy(void) {
  const char *policy = td_line_find(&orders.answer, "policy");
  return policy && strcmp(policy, "drop") == 0 ? TD_RING_DROP : TD_RING_BLOCK;
}

const char *
td_orders_keep(void) {
  return td_line_find(&orders.answer, "keep");
}

void
td_orders_report_tape(const char *path, int level) {
  td_line_text message;
  if (!orders.link) return;
  td_line_begin(&message, "tape");
  td_line_add(&message, "path", path);
  td_line_add_number(&message, "level", level);
  td_link_report(orders.link, &message);
  td_line_text_fini(&message);
}

void
td_orders_keep_from_now(const char *limit) {
  snprintf(orders.limit, sizeof orders.limit, "%s", limit);
}

static void
report_keep(const char *words) {
  td_line_text message;
  td_line_begin(&message, "keep");
  td_line_add(&message, "limit", orders.limit);
  td_line_add(&message, "words", words);
  td_link_report(orders.link, &message);
  td_line_text_fini(&message);
}

bool
td_orders_start_keeping(td_recorder *recorder) {
  td_error error = {0};
  char words[TD_KEEP_WORDS_MAX + sizeof "keep(\"\")"];
  if (!orders.link || !*orders.limit) return true;
  snprintf(words, sizeof words, "keep(\"%s\")", orders.limit);
  td_status status = td_recorder_keep(recorder, words, &error);
  if (status)
    complain("everything is kept", &error);
  else
    report_keep(words);
  return !status;
}

void
td_orders_ask_for_dump(td_recorder *recorder) {
  td_line_text message;
  if (!orders.link || (!td_orders_keep() && !*orders.limit)) return;
  td_recorder_flush(recorder);
  td_line_begin(&message, "dump");
  td_link_report(orders.link, &message);
  td_line_text_fini(&message);
}

static void
flush_cb(void *recorder) {
  td_recorder_flush(recorder);
}

/* On the listener's thread. */
static bool
hear(const td_line *command) {
  return td_where_answer(command, orders.link, orders.flush, td_whereabouts_add);
}

void
td_orders_open_gate(td_recorder *recorder, void (*flush)(void)) {
  td_error error = {0};
  if (!orders.link) return;
  orders.flush = flush;
  td_gate_hear(hear);
  if (!td_line_flag(&orders.answer, "live"))
    td_where_listen(orders.link, hear);
  else if (td_gate_open(orders.link, &orders.answer, flush_cb, recorder, &error))
    complain("not live", &error);
}

void
td_orders_report_over(int status, const char *problem) {
  td_line_text message;
  uint32_t n_steps, n_passes;
  bool nan_came;
  if (!orders.link) return;
  td_steps_counts(&n_steps, &n_passes, &nan_came);
  td_line_begin(&message, "over");
  td_line_add_number(&message, "status", status);
  td_line_add(&message, "whole", problem ? "0" : "1");
  td_line_add(&message, "problem", problem);
  td_line_add_number(&message, "steps", n_steps);
  td_line_add_number(&message, "passes", n_passes);
  td_line_add(&message, "nan", nan_came ? "1" : "0");
  td_link_report(orders.link, &message);
  td_line_text_fini(&message);
  hang_up();
}
