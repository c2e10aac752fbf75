/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A model's passes once more, in virtual time: the recorded durations under the queue of the engine
 * (engine/rules/task_order.h, heap.h) or under another rule. Each device has its workers, and so
 * has each thread that calls backward. A worker that sleeps takes wake_ns to begin. Any thread. */
#pragma once

#include "engine/profile/model/virtual_tasks.h"

/* TD_SCHEDULE(name, summary): which ready task goes first. */
#define TD_SCHEDULES(X)                                                                            \
  X(engine, "the engine's order: the highest sequence number")                                     \
  X(fifo, "the task that became ready first")                                                      \
  X(lifo, "the task that became ready last")                                                       \
  X(critical, "the task with the longest way to the end")                                          \
  X(memory, "the task that frees most")

typedef enum td_schedule {
#define X(name, summary) TD_SCHEDULE_##name,
  TD_SCHEDULES(X)
#undef X
      TD_N_SCHEDULES
} td_schedule;

/* td_schedule_name returns "engine", ... Constant. td_schedule_find returns the schedule of a name,
 * or TD_N_SCHEDULES. */
const char *td_schedule_name(td_schedule schedule);
td_schedule td_schedule_find(const char *name);

typedef struct td_virtual_plan {
  td_schedule schedule;
  uint32_t n_devices;         /* 0: as recorded. More than recorded: equal parts take turns */
  uint32_t n_workers;         /* of each device and caller */
  const td_scaling *scalings; /* (borrowed) [n_scalings] */
  uint32_t n_scalings;
} td_virtual_plan;

/* Sums over passes in ns. The two bounds hold for every schedule on these workers. */
typedef struct td_virtual_result {
  uint64_t wall, critical_path, work_over_workers;
  uint64_t memory_peak; /* bytes of gradients that wait in buffers at once */
  uint32_t queue_peak;  /* tasks in one queue at once */
} td_virtual_result;

typedef enum td_virtual_kind {
  TD_VIRTUAL_pass_begin, /* id: a pass */
  TD_VIRTUAL_pass_end,   /* id: a pass */
  TD_VIRTUAL_push,       /* id: a task */
  TD_VIRTUAL_pop,        /* id: a task */
  TD_VIRTUAL_begin,      /* id: a task, whose function begins */
  TD_VIRTUAL_end,        /* id: a task, whose function ends */
  TD_VIRTUAL_deliver,    /* id: a delivery */
  TD_VIRTUAL_finish,     /* id: a task; its worker is free */
  TD_VIRTUAL_idle        /* a worker finds nothing to do */
} td_virtual_kind;

/* What happens in virtual time. Teams are the devices, then the owners of passes. */
typedef struct td_virtual_event {
  td_virtual_kind kind;
  uint64_t ns;
  uint32_t id;
  uint32_t team; /* whose queue, or whose worker */
  uint32_t by;   /* of a push: the task that handed on the last gradient, or TD_NONE: the owner */
} td_virtual_event;

/* Hears all that happens, in the order of time. */
typedef struct td_virtual_listener {
  void (*happened)(const td_virtual_event *event, void *data);
  void *data;
} td_virtual_listener;

/* td_virtual_run adds the model's passes to *result; of the peaks, the greater counts. The listener
 * may be NULL. TD_OUT_OF_MEMORY. */
td_status td_virtual_run(const td_pass_model *model, const td_virtual_plan *plan,
                         const td_virtual_listener *listener, td_virtual_result *result);
