/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Gate: where the threads of a live program can be made to wait, one gate per process. Engines poll
 * it right after an event that is a good place to stop:
 *
 *   TD_EMIT(node_begin, ...);
 *   TD_GATE_POLL(TD_EVENT_node_begin, id, task, name);
 *
 * If nothing is to be stopped, a poll costs one load and one predicted branch, and does not
 * evaluate its arguments. Any thread may poll. It may sleep here as long as the user pleases. So it
 * holds neither the GIL nor a lock that another thread could want. All threads go on when the hub
 * is gone, on `detach`, on SIGINT, and when the gate is closed. After SIGINT the program's own
 * handler runs as ever. Before the gate reports a stop, everything emitted so far is in the tape's
 * file.
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
                                noted trouble. `queue_pop`: before that event, if there is a choice
                                of tasks */
  uint32_t node, graph_task; /* or TD_NONE */
  const char *name;          /* of the node, or NULL; borrowed for the call */
} td_gate_point;

#define TD_GATE_POLL(kind, node, graph_task, name)                                                 \
  do {                                                                                             \
    if (td_gate_is_armed()) td_gate_pass(&(td_gate_point){(kind), (node), (graph_task), (name)});  \
  } while (0)

/* td_gate_pass is what TD_GATE_POLL calls: returns when the thread may go on. If it had to wait,
 * the event `paused` tells how long. */
void td_gate_pass(const td_gate_point *point);

/* td_gate_note remembers that something went wrong at a node. The thread holds locks and cannot
 * stop yet. It stops at its next poll, if a condition wants that. Any thread. */
void td_gate_note_armed(td_trouble trouble, uint32_t node);

static inline void
td_gate_note(td_trouble trouble, uint32_t node) {
  if (td_gate_is_armed()) td_gate_note_armed(trouble, node);
}

/* td_gate_open does what the hub's `record` line asks for. It does nothing if that line is not
 * live. Otherwise the gate listens to the link from now on. The program stops at its first poll, or
 * at the first poll at which a condition holds, if there are conditions. If the line says `away`,
 * it stops nowhere until a command says so. The threads that stop call `flush`, which must bring
 * what was emitted into the tape's file. TD_INVALID if a condition cannot be read. One owner per
 * process. */
td_status td_gate_open(td_link *link, const td_line *record, void (*flush)(void *data), void *data,
                       td_error *error);

/* td_gate_hear has each command go to `command` first, on the listener's thread. If that returns
 * true, the command was its own, and the gate does not see it. Before td_gate_open. */
void td_gate_hear(bool (*command)(const td_line *command));

/* td_gate_close lets every thread go, waits until they have gone, and forgets the link and the
 * tape: before td_link_close and the recorder's end. Harmless when it is not open. In the child of
 * a fork the gate is closed already. */
void td_gate_close(void);
