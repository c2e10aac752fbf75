/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [One scheduler]
 *
 * Some questions need the engine's rules without the engine. In which order will these nodes run?
 * How long would they take under another policy? Is what a tape shows right? One machine has the
 * rules for all of them. It runs passes over a graph in virtual time, and tells what happens. It
 * reads no tape, takes no lock and knows no tensors. The engine itself has its own queue, and
 * shares only the heap's template. So the rules can judge the engine, and tests/rules holds the two
 * together.
 *
 * A *team* is a ready queue and the threads that pop it: a device's, or those of a thread that
 * calls backward. The rules, and where PyTorch has them (torch/csrc/autograd/engine.cpp):
 *
 * - A task becomes ready when its last gradient arrives. It enters a queue at that moment, before
 *   the task that gave the gradient is over (evaluate_function). A task that the results do not
 *   need is dropped instead (exec_info).
 * - Which ready task is popped first: task_order.h.
 * - A thread that is free pops the first task of its queue, else it sleeps. A push wakes one
 *   sleeper, in wake_ns (ReadyQueue::push).
 * - A pass is over when each task that entered a queue for it is done (outstanding_tasks_).
 * - A pass inside a node runs on the node's thread, after the node's own time. It is one deeper
 *   than the calls that this thread is in already (total_depth). While it waits for other threads,
 *   the thread takes what is first in its queue, whichever pass that is for (Engine::execute,
 *   thread_main). The caller goes on when the pass inside is over and its thread is free: the one
 *   that called last goes on first.
 * - A pass that the engine gives to its pool runs as if on its caller's thread. That thread sleeps
 *   meanwhile, and the pool pops the same queue (add_thread_pool_task).
 * - A final callback may call a pass. It begins as soon as the pass that queued the callback is
 *   over.
 * - A task may hold locks for parts of its time. If another task has the lock, its thread waits. No
 *   rule says which of several threads gets a lock next, so the plan says it: the hold of the
 * lowest `order`. That thread wakes lock_wake_ns after the lock was given back. Meanwhile, a thread
 * of a lower order that comes by may take the lock.
 *
 * Not timed, all tasks take equally long, no two are over at once, and gradients are handed on at
 * the end of a task. With one team no time counts then: the order is the engine's.
 *
 * td_machine_run allocates by the numbers of its plan at the beginning, or fails with
 * TD_OUT_OF_MEMORY. Later, memory grows with the tasks that are ready or under way. Edges that
 * contradict each other leave tasks that never become ready. Any thread. */
#pragma once

#include "engine/base/status.h"
#include "engine/events/event.h"

typedef struct td_machine_edge {
  uint32_t from, to; /* tasks; to: TD_NONE: nothing is handed on */
  uint64_t after_ns; /* the pop of `from`, if timed */
} td_machine_edge;

/* A part of a task's time for which it has a lock, after its pop. */
typedef struct td_machine_hold {
  uint32_t lock;
  uint64_t begin_ns, end_ns, order;
} td_machine_hold;

typedef struct td_machine_task {
  uint32_t pass, team;
  uint32_t first, n;            /* its edges */
  uint32_t first_hold, n_holds; /* if timed; of a task that calls no pass */
  uint32_t next_root;           /* of its pass, or TD_NONE */
  uint32_t inner;               /* the first pass that it calls, or TD_NONE */
  bool is_unwanted;             /* it does not run, unless it is a root */
  uint64_t sequence_nr;
  uint64_t lasts_ns; /* from its pop until its thread is free; each part, with passes */
} td_machine_task;

/* When a task's function begins and ends, after its pop. */
typedef struct td_machine_span {
  uint64_t begin_ns, end_ns;
} td_machine_span;

/* A pass that a task, a callback, or the pass before it begins. */
#define TD_MACHINE_CALLED UINT64_MAX

typedef struct td_machine_pass {
  uint32_t team;     /* of the thread that calls backward */
  uint32_t root;     /* the first, or TD_NONE */
  uint32_t caller;   /* task, or TD_NONE */
  uint32_t next;     /* that the same task or thread calls after it, or TD_NONE */
  uint32_t callback; /* the pass that a final callback of this one calls, or TD_NONE */
  uint64_t begin_ns; /* or TD_MACHINE_CALLED */
  uint64_t lead_ns;  /* until its roots are pushed; none of a pass that is called */
  uint64_t tail_ns;  /* after its last task */
  uint64_t gap_ns;   /* from its end to the begin of `next`, without a caller */
} td_machine_pass;

typedef enum td_machine_kind {
  TD_MACHINE_pass_begin, /* id: a pass */
  TD_MACHINE_pass_end,   /* id: a pass */
  TD_MACHINE_push,       /* id: a task */
  TD_MACHINE_pop,        /* id: a task */
  TD_MACHINE_begin,      /* id: a task, whose function begins; if the plan has spans */
  TD_MACHINE_end,        /* id: a task, whose function ends; the same */
  TD_MACHINE_deliver,    /* id: an edge; before the push that follows from it */
  TD_MACHINE_finish,     /* id: a task; its worker is free */
  TD_MACHINE_resume,     /* id: a task that goes on: the pass that it called is over */
  TD_MACHINE_idle        /* a worker finds nothing to do */
} td_machine_kind;

#define TD_MACHINE_BIT(kind) (1u << TD_MACHINE_##kind)
#define TD_MACHINE_ALL UINT32_MAX

typedef struct td_machine_event {
  td_machine_kind kind;
  uint64_t ns; /* not timed: how many tasks are over */
  uint32_t id;
  uint32_t team;    /* whose queue, or whose worker */
  uint32_t by;      /* of a push: the task that handed on the last gradient, or TD_NONE: its pass */
  uint32_t n_ready; /* of a push: tasks in the queue after it */
} td_machine_event;

typedef struct td_machine td_machine;

typedef struct td_machine_plan {
  const td_machine_task *tasks;  /* (borrowed) [n_tasks] */
  const td_machine_edge *edges;  /* (borrowed) */
  const td_machine_pass *passes; /* (borrowed) [n_passes] */
  const td_queue_order *orders;  /* (borrowed) [n_teams] */
  const td_machine_span *spans;  /* (borrowed) [n_tasks] of functions, or NULL */
  /* (borrowed) or NULL. Each lasts some time. A task has each lock once at a time; while it has
   * one, it asks only for locks of greater numbers. */
  const td_machine_hold *holds;
  uint32_t n_tasks, n_passes, n_teams, n_locks;
  uint32_t n_workers; /* of each team */
  bool is_timed;
  uint64_t wake_ns;      /* until a worker that slept pops */
  uint64_t lock_wake_ns; /* until a thread that waited for a lock asks again */
  /* What a policy asks before the sequence_nr, at the push of a task; or NULL. */
  int64_t (*rank)(uint32_t task, void *data);
  /* The team whose queue a task enters; or NULL: its own. */
  uint32_t (*route)(const td_machine *machine, uint32_t task, void *data);
  /* Hears what happens, in the order of time. `heard` has a bit for each kind that it wants. */
  uint32_t heard; /* TD_MACHINE_BIT(pop) | ... */
  void (*happened)(const td_machine_event *event, void *data);
  void *data;
} td_machine_plan;

/* td_machine_run runs all passes. Nobody keeps the plan. */
td_status td_machine_run(const td_machine_plan *plan);

/* td_machine_load returns how many tasks a team has, in its queue and under way. */
uint32_t td_machine_load(const td_machine *machine, uint32_t team);
