/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of threads' time, and what a tape can tell of them: the types of idle.h. Read-only once
 * they are made; any number of threads may read them. */
#pragma once

#include "engine/replay/catalog.h"

/* TD_IDLE_PARTS(X): each moment of a thread belongs to one of them.
 *
 * - running: at work for a node: functions, hooks, handing gradients on.
 * - engine: in a pass, but at no node: counting dependencies, popping, between nodes.
 * - no_ready: asleep on its queue, while threads of its own device run nodes.
 * - other_device: asleep, while threads of other devices run nodes. If both run, their numbers
 *   share the time.
 * - waking: asleep, while no thread runs a node: somebody wakes up, waits, or counts dependencies.
 * - stream: waits for a stream of a device.
 * - lock: waits for a lock of the engine.
 * - gil: waits for Python's global lock.
 * - no_core: could run, and another thread had the core; taken from the parts before.
 * - callbacks: in final callbacks.
 * - collective: waits for a collective operation of several processes.
 * - late: in no pass yet, while others are; then it calls backward.
 * - outside: in no pass, and it calls none before all are over.
 *
 * A thread that waits runs no node. If a tape cannot tell of a part, its time is in others. */
#define TD_IDLE_PARTS(X)                                                                           \
  X(running)                                                                                       \
  X(engine)                                                                                        \
  X(no_ready)                                                                                      \
  X(other_device)                                                                                  \
  X(waking) X(stream) X(lock) X(gil) X(no_core) X(callbacks) X(collective) X(late) X(outside)

typedef enum td_idle_part {
#define X(name) TD_IDLE_##name,
  TD_IDLE_PARTS(X)
#undef X
      TD_N_IDLE_PARTS
} td_idle_part;

/* td_idle_part_name returns "running", ... Constant. */
const char *td_idle_part_name(td_idle_part part);

/* The CPU, and so many devices: those with higher numbers count as the last one. */
#define TD_IDLE_DEVICES 17

/* A stretch in which a thread slept or waited. */
typedef struct td_idle_stretch {
  td_idle_part part;                    /* no_ready for all sleeps */
  uint64_t begin_seq, begin_ns, end_ns; /* of the tape */
  uint64_t ns;                          /* of it, while a pass was under way; 0: there was none */
} td_idle_stretch;

typedef struct td_idle_thread {
  uint32_t thread;
  char *name;                      /* (owned) "2 sim:1" */
  char *device;                    /* (owned) that it serves: "cpu" */
  uint64_t parts[TD_N_IDLE_PARTS]; /* ns: their sum is the wall time */
  /* ns of no_ready and other_device, by the device of the threads that ran: the CPU's first, then
   * devices from 0. If several threads ran, they share the time. */
  uint64_t waited_for[TD_IDLE_DEVICES];
  td_idle_stretch longest; /* that has an end on the tape */
} td_idle_thread;

typedef enum td_idle_whom {
  TD_IDLE_DEVICE,
  TD_IDLE_THREAD, /* that had a lock, came late, or still ran nodes */
  TD_IDLE_STREAM,
  TD_IDLE_STRING /* name of a callback or of a collective operation */
} td_idle_whom;

/* Somebody or something that threads waited for. */
typedef struct td_idle_culprit {
  td_idle_part part; /* what they did meanwhile; late: they waited for the other processes */
  td_idle_whom kind;
  char *who;     /* (owned) */
  uint64_t whom; /* its number; of no meaning for a device */
  uint64_t ns;   /* of all who waited */
} td_idle_culprit;

typedef struct td_idle {
  uint32_t n_passes; /* outermost ones */
  uint64_t wall;     /* ns in which one of them was under way */
  bool is_known[TD_N_IDLE_PARTS];
  const char *reasons[TD_N_IDLE_PARTS]; /* why a part is not known; else NULL */
  td_idle_thread *threads; /* (owned) that had a part in a pass, in the order of their ids */
  uint32_t n_threads;
  char *devices[TD_IDLE_DEVICES]; /* (owned) names, NULL: not on this tape */
  td_idle_culprit *culprits;      /* (owned) the longest waits first */
  uint32_t n_culprits, culprits_capacity;
} td_idle;

void td_idle_fini(td_idle *idle);

/* td_idle_know_parts sets which parts a tape can tell of, and why not. td_idle_learn_parts adds
 * what the settings in a catalog say. Private to engine/profile. */
void td_idle_know_parts(td_idle *idle, const td_tape_info *info);
void td_idle_learn_parts(td_idle *idle, const td_tape_info *info, const td_catalog *catalog);
