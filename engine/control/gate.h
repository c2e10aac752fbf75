/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Gate: where the threads of a live program can be made to wait, one gate per process. Engines poll
 * it right after an event that is a good place to stop:
 *
 *   TD_EMIT(node_begin, ...);
 *   TD_GATE_POLL(TD_EVENT_node_begin, id, task, name);
 *
 * One load and one predicted branch when nothing is to be stopped; the arguments are evaluated only
 * otherwise. Any thread may poll; it must hold no lock that another thread could want, and not the
 * GIL, for it may sleep here as long as the user pleases. Waiting ends for all threads when the hub
 * is gone, on `detach`, on SIGINT (the handler that the program had is called as ever), and when
 * the gate is closed. Before a stop is reported, everything emitted so far is in the tape's file.
 */
#pragma once

#include "engine/control/condition.h"
#include "engine/control/link.h"

#include <stdatomic.h>

/* Nonzero while some thread may have to stop. */
extern _Atomic bool td_gate_armed;

static inline bool
td_gate_is_armed(void) {
  return __builtin_expect(atomic_load_explicit(&td_gate_armed, memory_order_relaxed), 0);
}

typedef struct td_gate_point {
  td_event_kind kind;        /* of the event just emitted; `error` and `anomaly` only stop who has
                                noted trouble */
  uint32_t node, graph_task; /* or TD_NONE */
  const char *name;          /* of the node, or NULL; borrowed for the call */
} td_gate_point;

#define TD_GATE_POLL(kind, node, graph_task, name)                                                 \
  do {                                                                                             \
    if (td_gate_is_armed()) td_gate_pass(&(td_gate_point){(kind), (node), (graph_task), (name)});  \
  } while (0)

/* td_gate_pass is what TD_GATE_POLL calls: returns when the thread may go on. */
void td_gate_pass(const td_gate_point *point);

/* td_gate_note remembers that something went wrong at a node, where the thread cannot stop for the
 * locks that it holds; it stops at its next poll, if a condition asks for that. Any thread. */
void td_gate_note_armed(td_trouble trouble, uint32_t node);

static inline void
td_gate_note(td_trouble trouble, uint32_t node) {
  if (td_gate_is_armed()) td_gate_note_armed(trouble, node);
}

/* td_gate_open does what the hub's `record` line asks for. Nothing where it is not live; else the
 * link is listened to from now on, and the program is stopped at its first poll, or, where there
 * are conditions, at the first that holds. `flush` must bring what was emitted into the tape's
 * file; the threads that stop call it. TD_INVALID for conditions that are none. One owner per
 * process. */
td_status td_gate_open(td_link *link, const td_line *record, void (*flush)(void *data), void *data,
                       td_error *error);

/* td_gate_close lets every thread go, waits until they have gone, and forgets the link and the
 * tape: before td_link_close and the recorder's end. Harmless when it is not open. In the child of
 * a fork the gate is closed already. */
void td_gate_close(void);
