/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a modeller knows in the middle of a tape. Private to modeller.c, modeller_pieces.c,
 * modeller_waits.c and modeller_holds.c. */
#pragma once

#include "engine/base/alloc.h"
#include "engine/profile/held_waits.h"
#include "engine/profile/model/pass_handings.h"
#include "engine/profile/model/pass_streams.h"
#include "engine/profile/model/wakes.h"
#include "engine/profile/pauses.h"

typedef struct td_modeller td_modeller;

/* How far a thread is with its task. */
typedef struct td_model_place {
  uint32_t piece; /* TD_NONE: it is at no task */
  uint64_t offset_ns;
} td_model_place;

#define TD_N_LOCKS (TD_lock_kind_gil + 1)

#define TD_NO_PLACE ((td_model_place){TD_NONE, 0})

/* A task that a thread is at. */
typedef struct td_model_frame {
  uint32_t task;
  uint64_t pop_ns, away_ns; /* of it, for other tasks */
  uint32_t last;            /* handing, or TD_NONE */
  bool is_finished;
  uint32_t open[TD_N_LOCKS];  /* 1 + the hold of each kind of lock that it has, or 0 */
  uint64_t since[TD_N_LOCKS]; /* when it may have taken one that a later event tells of */
  uint32_t n_hooks;           /* inside one another */
  uint64_t hook_ns;           /* begin of the outermost one */
} td_model_frame;

/* A wait of a thread for a lock: Note [Held, and woke late] in held_waits.h. */
typedef struct td_lock_wait {
  bool is_on;
  td_model_place from;  /* of the waiting thread */
  td_model_place freed; /* of the holder that gave the lock back last */
  td_lock_kind lock;
  uint32_t object;
  uint64_t begin_ns; /* of the task that the thread is at */
  uint32_t named;    /* the thread that had the lock, if it is at a task; or TD_NONE */
} td_lock_wait;

/* A wait of a thread for a stream, or for an event of one. */
typedef struct td_stream_wait {
  bool is_on;
  td_model_stream stream;
  td_stream_front front; /* that it waits for */
  uint64_t begin_ns;
  td_model_place from; /* of the waiting thread */
} td_stream_wait;

/* A thread. */
typedef struct td_model_lane {
  td_model_frame *frames; /* (owned) innermost last */
  uint32_t n, capacity;
  bool is_listed; /* in modeller->busy */
  uint32_t piece; /* of the innermost task, or TD_NONE */
  td_lock_wait wait;
  td_stream_wait stream_wait;
  td_model_wait *before; /* (owned) waits since the last task */
  uint32_t n_before, before_capacity;
} td_model_lane;

struct td_modeller {
  td_model_listener listen;
  void *data;
  td_pass_model model; /* its deliveries are made at the end */
  uint32_t pass_capacity, task_capacity, piece_capacity, wait_capacity;
  uint32_t hold_capacity, stall_capacity;
  uint32_t n_under_way, n_left_out;
  uint64_t now;
  td_pauses pauses;
  bool *has_failed; /* (owned) by pass */
  uint32_t failed_capacity;
  td_handings handings;
  td_held_waits locks;
  td_pass_streams streams;
  td_number_map pass_of; /* by graph task: 1 + the pass */
  td_number_map pushed;  /* by task_key: when it was pushed */
  td_model_lane *lanes;  /* (owned) by thread */
  uint32_t n_lanes;
  uint32_t *busy; /* (owned) threads that had a task since the last delivery */
  uint32_t n_busy, busy_capacity;
  uint32_t n_queues; /* that model.n_devices counts */
  td_wakes wakes, lock_wakes;
};

/* td_modeller_list_busy notes that a lane is to be cleared with the model. */
static inline void
td_modeller_list_busy(td_modeller *self, td_model_lane *lane, uint32_t thread) {
  if (lane->is_listed) return;
  TD_GROW(self->busy, self->n_busy, self->busy_capacity);
  self->busy[self->n_busy++] = thread;
  lane->is_listed = true;
}

/* ---- pieces ---- */

/* td_model_offset_in returns how far a task is, without the time of other tasks.
 * td_modeller_place_in returns how far a thread is. */
uint64_t td_model_offset_in(const td_model_frame *frame, uint64_t now);
td_model_place td_modeller_place_in(const td_modeller *self, const td_model_lane *lane,
                                    uint64_t now);

/* td_modeller_add_wait adds a wait for the next piece. td_modeller_begin_piece makes that piece of
 * the thread's innermost task, and td_modeller_add_piece one of a stream; the last n waits led to
 * it. td_modeller_add_piece returns its number. */
void td_modeller_add_wait(td_modeller *self, const td_model_wait *wait);
void td_modeller_begin_piece(td_modeller *self, td_model_lane *lane, uint64_t offset,
                             uint32_t n_waits);
uint32_t td_modeller_add_piece(td_modeller *self, td_model_piece piece, uint32_t n_waits);
void td_modeller_end_piece(td_modeller *self, const td_model_lane *lane, uint64_t now);

/* td_modeller_end_wait takes a wait of a thread that was at `from` when it began. Inside a task a
 * new piece begins. A wait between two tasks leads to the next one. */
void td_modeller_end_wait(td_modeller *self, td_model_lane *lane, td_model_place from,
                          const td_model_wait *wait, uint64_t now);

/* ---- holds and stalls: Note [Locks of a model] ---- */

/* td_modeller_note_holds takes what an event of a thread says about locks and hooks.
 * td_modeller_close_holds ends what a task has when it is over. td_modeller_sort_holds makes the
 * model's lists, as soon as all events are there. */
void td_modeller_note_holds(td_modeller *self, td_model_lane *lane, const td_any_event *event);
void td_modeller_close_holds(td_modeller *self, td_model_frame *frame, uint64_t now);
void td_modeller_sort_holds(td_modeller *self);

/* ---- waits: the events of locks and streams ---- */

void td_modeller_begin_lock_wait(td_modeller *self, td_model_lane *lane,
                                 const td_event_lock_wait *event);

/* td_modeller_freed_cb and td_modeller_waited_cb are those of modeller->locks. */
void td_modeller_freed_cb(uint32_t waiter, uint32_t holder, void *modeller);
void td_modeller_waited_cb(const td_held_wait *wait, void *modeller);

/* td_modeller_launch also takes kernels outside passes: those of a pass may queue behind them. */
void td_modeller_launch(td_modeller *self, const td_model_lane *lane, const td_event_kernel *event);
void td_modeller_record(td_modeller *self, const td_event_stream_record *event);
void td_modeller_join(td_modeller *self, const td_event_stream_wait *event);
void td_modeller_begin_stream_wait(td_modeller *self, td_model_lane *lane,
                                   const td_event_synchronize_begin *event);
void td_modeller_end_stream_wait(td_modeller *self, td_model_lane *lane,
                                 const td_event_synchronize_end *event);
