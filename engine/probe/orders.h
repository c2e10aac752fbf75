/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What somebody wants of this process. The hub of `tapedeck record` says it through a link; in
 * tests the environment says it instead, and nothing is reported. No lock of its own: recording.c
 * lets one thread at a time in here. */
#pragma once

#include "engine/events/ring.h"
#include "engine/trace/recorder.h"

#include <stdbool.h>

typedef struct td_orders {
  bool hooks;           /* level 2 */
  const char *observer; /* the path of the library for level 1, or NULL */
  const char *reason;   /* why level 2, or NULL */
} td_orders;

/* td_orders_ask asks what is wanted, and hands numerics.h, steps.h and td_probe_wanted their parts.
 * It returns NULL if nothing is wanted. It says so and returns NULL if the hub does not answer. The
 * result lives until td_orders_ask_again. */
const td_orders *td_orders_ask(void);

/* td_orders_ask_again asks for the child of a fork, which keeps its parent's observer. Returns
 * false if nothing is wanted. */
bool td_orders_ask_again(void);

/* td_orders_abandon forgets the parent's link and the hub's answer in the child of a fork. */
void td_orders_abandon(void);

/* td_orders_tape returns the path of this process's tape; the caller frees. */
char *td_orders_tape(void);
td_ring_policy td_orders_policy(void);

/* td_orders_keep returns what a keeper leaves on the tape, or NULL. It lives as the orders do. */
const char *td_orders_keep(void);

/* td_orders_keep_from_now remembers what the program wants a keeper to leave on the tape. It
 * outlives the orders: children want the same. td_orders_start_keeping tells it to the recorder and
 * the hub. It returns false, after it said why, if it is not possible. It does nothing if there is
 * no hub, or the program wants nothing. */
void td_orders_keep_from_now(const char *limit);
bool td_orders_start_keeping(td_recorder *recorder);

/* td_orders_ask_for_dump asks the hub for a tape of what was kept up to now. */
void td_orders_ask_for_dump(td_recorder *recorder);

/* td_orders_open_gate lets the hub stop the program if it wants to, and ask where its threads are.
 * The listening thread calls `flush` before it answers.
 * td_orders_report_tape: the tape has begun. Call it second: somebody who hears of a tape may
 * interrupt the program at once, and only an open gate lets its threads go then.
 * td_orders_report_over: the process ends, and the link with it; `problem` says why its tape is not
 * whole, or is NULL. */
void td_orders_open_gate(td_recorder *recorder, void (*flush)(void));
void td_orders_report_tape(const char *path, int level);
void td_orders_report_over(int status, const char *problem);
