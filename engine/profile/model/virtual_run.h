/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A model's passes once more, in virtual time: the recorded durations under the queue of the engine
 * (engine/rules/machine.h) or under another rule. Each device has its workers, and so has each
 * thread that calls backward. A worker that sleeps takes wake_ns to begin. Tasks wait for the locks
 * that others hold: Note [Locks of a model] in pass_model.h. Any thread. */
#pragma once

#include "engine/profile/model/virtual_tasks.h"
#include "engine/rules/machine.h"

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

/* td_freeable_find returns what has a name, "lock", "gil" or "hook", or TD_N_FREEABLES. */
td_freeable td_freeable_find(const char *name);

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
  unsigned frees; /* 1 << TD_FREE_hook | ...: hooks, or waits for locks, take no time */
} td_virtual_plan;

/* Sums over passes in ns. The two bounds hold for every schedule on these workers. */
typedef struct td_virtual_result {
  uint64_t wall, critical_path, work_over_workers;
  uint64_t memory_peak; /* bytes of gradients that wait in buffers at once */
  uint32_t queue_peak;  /* tasks in one queue at once */
} td_virtual_result;

/* Hears all that happens, in the order of time. Teams are the devices, then the owners of passes.
 * An edge is a delivery. */
typedef struct td_virtual_listener {
  void (*happened)(const td_machine_event *event, void *data);
  void *data;
} td_virtual_listener;

/* td_virtual_run adds the model's passes to *result; of the peaks, the greater counts. The listener
 * may be NULL. TD_OUT_OF_MEMORY. */
td_status td_virtual_run(const td_pass_model *model, const td_virtual_plan *plan,
                         const td_virtual_listener *listener, td_virtual_result *result);
