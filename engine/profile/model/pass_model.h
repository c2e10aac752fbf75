/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Pass models]
 *
 * A model has what it takes to run passes again in virtual time. These are the tasks of outermost
 * passes: how long each kept its thread, and when it handed which gradients on. A pass inside a
 * node is time of that node. Passes that overlap make one model, because they share threads of
 * devices.
 *
 * A task lasts from its pop until it was counted as finished and its thread does something else
 * (task_end.h). The owner of a pass works alone twice. Its lead lasts until the first push, or
 * until it pops that task itself. Its tail follows the last task. Passes that failed or never ended
 * are left out.
 *
 * A task is made of pieces. A new one begins when its thread got a lock that it waited for, and
 * when a task inside it is over. If its holder was at a task, the wait is no time of a
 * piece: that task had to come so far first. Otherwise the wait is a piece itself.
 *
 * A kernel is a piece too, on its stream. It waits for its launch, for the kernel before it, and
 * for events of other streams. A join is a piece without a task and without time: there a stream
 * waits for an event of another one. A thread that waited for a stream begins a new piece after the
 * last kernel there. If no task of the model launched what the thread waited for last, the wait is
 * a piece itself. So is the time that a kernel queues behind such work. So is a wait for all
 * streams of a device: only a device that tells of its kernels late is waited for so.
 *
 * Note [Locks of a model]
 * Problem: if functions took another time, threads would meet at locks at other moments. So waits
 * cannot stay as they were. The model must say for which part of its time each task has a lock.
 *
 * Constraint: a thread that finds a lock free emits nothing.
 *
 * Trick: other events tell. They make the *holds* of a task:
 *
 * - A task hands its gradients on under the lock of its pass: from the first dependency_dec to the
 *   last event of a gradient. If the clock was read once for all of these, the hold is left out.
 * - A leaf adds to its gradient under its own lock: between node_begin and node_end. This matters
 *   if passes overlap.
 * - A thread that waited has the lock from lock_acquired to lock_released.
 * - lock_held names a thread that has the lock. It had a leaf's since its function began, and the
 *   GIL since its function or hook began, or since it gave the GIL back last. It has both until the
 *   thread that waits gets them.
 *
 * Nobody knows who has the GIL while no thread waits for it. Of threads that wait for a lock, the
 * one that got it first on the tape gets it first again.
 *
 * A *stall* is a part of a task that a change can take away: a hook, or a wait for a lock. If the
 * thread that had the lock was at a task, its holds keep others waiting when passes run again. Then
 * the wait is no time of the task: it `follows`. Queues have locks for so short a time that they
 * have no holds, and waits for them are time of the task. */
#pragma once

#include "engine/replay/catalog.h"

typedef struct td_model_delivery {
  uint32_t from, to;  /* tasks */
  uint64_t offset_ns; /* after the pop of `from` */
  uint32_t bytes;     /* that stay in the buffer of `to`; 0 if they are added to others */
  uint32_t piece;     /* of `from`, in which it came */
} td_model_delivery;

/* The number is -1 for all streams of a device. */
typedef struct td_model_stream {
  int32_t device, number;
} td_model_stream;

#define TD_MODEL_NO_STREAM ((td_model_stream){TD_DEVICE_CPU, 0})

typedef enum td_model_wait_kind {
  TD_MODEL_WAIT_lock,   /* a thread got a lock that another one had */
  TD_MODEL_WAIT_launch, /* a kernel was launched */
  TD_MODEL_WAIT_stream  /* a kernel, a join or a thread waited for work of a stream */
} td_model_wait_kind;

typedef struct td_model_wait {
  td_model_wait_kind kind;
  td_lock_kind lock; /* of a lock */
  uint32_t object;
  td_model_stream stream;  /* that a thread waited for */
  uint32_t thread, holder; /* the holder of a lock may be TD_NONE: unknown */
  uint32_t from; /* the piece that gave the lock back, launched the kernel, or is the kernel waited
                  * for; TD_NONE: no piece of the model */
  uint64_t offset_ns; /* after the begin of that piece */
  uint64_t ns;        /* of a thread */
} td_model_wait;

/* All times of holds and stalls come after the pop of their task. */
typedef struct td_model_hold {
  uint32_t task;
  td_lock_kind lock;
  uint32_t object;
  uint64_t begin_ns, end_ns;
  uint64_t taken_ns; /* its begin, of the tape */
  bool was_awaited;
} td_model_hold;

/* TD_FREEABLES(name, summary): what can be taken away from all tasks. */
#define TD_FREEABLES(X)                                                                            \
  X(lock, "waits for the locks of queues, passes and nodes")                                       \
  X(gil, "waits for Python's GIL")                                                                 \
  X(hook, "hooks")

typedef enum td_freeable {
#define X(name, summary) TD_FREE_##name,
  TD_FREEABLES(X)
#undef X
      TD_N_FREEABLES
} td_freeable;

typedef struct td_model_stall {
  uint32_t task;
  td_freeable what;
  bool follows; /* Note [Locks of a model] */
  uint64_t begin_ns, end_ns;
} td_model_stall;

/* td_model_freeable_of returns what takes waits for a lock away. */
static inline td_freeable
td_model_freeable_of(td_lock_kind lock) {
  return lock == TD_lock_kind_gil ? TD_FREE_gil : TD_FREE_lock;
}

/* A wait between two tasks belongs to the second one. */
typedef struct td_model_piece {
  uint32_t task;                /* TD_NONE: a join */
  td_model_stream stream;       /* of a kernel or a join */
  uint32_t first_wait, n_waits; /* before it */
  uint64_t offset_ns;           /* after the pop of the task; none of a kernel */
  uint64_t length_ns;
} td_model_piece;

typedef struct td_model_task {
  uint32_t node, pass, thread;
  int32_t device; /* whose queue it was in; TD_DEVICE_CPU: that of the pass's owner */
  uint64_t sequence_nr;
  uint64_t total_ns;  /* on its thread */
  uint64_t begin_ns;  /* of its function, after the pop */
  uint64_t apply_ns;  /* in its function */
  uint32_t first, n;  /* deliveries from it */
  uint32_t n_awaited; /* deliveries to it */
  uint32_t piece;     /* its first */
  uint64_t waited_ns; /* of total_ns, for locks and streams */
  const char *name;   /* (borrowed) from the tape */
} td_model_task;

typedef struct td_model_pass {
  uint32_t graph_task, owner;
  uint64_t begin_ns, end_ns;
  uint64_t lead_ns, tail_ns;
  uint32_t n_tasks;
} td_model_pass;

typedef struct td_pass_model {
  td_model_pass *passes;         /* (owned) in the order of their begins */
  td_model_task *tasks;          /* (owned) in the order of their pops */
  td_model_delivery *deliveries; /* (owned) by `from`, then in time */
  td_model_piece *pieces;        /* (owned) in the order of their begins */
  td_model_wait *waits;          /* (owned) in the order of the pieces that they lead to */
  td_model_hold *holds;          /* (owned) by task, then in the order of their begins */
  td_model_stall *stalls;        /* (owned) the same */
  uint32_t n_passes, n_tasks, n_deliveries, n_pieces, n_waits, n_holds, n_stalls;
  uint32_t n_devices; /* the tape's greatest device + 1, or 0 if it has only the CPU */
  uint64_t wake_ns;   /* from a push to the pop of a thread that slept: the median so far */
  /* From a hold to the next one of a thread that waited for it: the same. */
  uint64_t lock_wake_ns;
  bool has_bytes;
} td_pass_model;

/* Called with a model that is valid for the call. */
typedef void (*td_model_listener)(const td_pass_model *model, void *data);

/* td_model_is_of_thread tells whether a piece is work of a thread, not of a stream. */
static inline bool
td_model_is_of_thread(const td_model_piece *piece) {
  return piece->stream.device < 0;
}
