/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The events of a prediction: Note [Predictions]. Private to engine/profile/model. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/model/virtual_run.h"
#include "engine/trace/maker.h"

/* A queue and the threads that work on it. */
typedef struct td_predicted_team {
  int32_t device;    /* TD_DEVICE_CPU: of a thread that calls backward */
  uint32_t owner;    /* that thread on the recorded tape, or TD_NONE */
  uint32_t n_queued; /* tasks in its queue */
  uint32_t *threads; /* (owned) [n_workers] on the tape, TD_NONE until it works; the first one calls
                      * backward */
  uint64_t *free_ns; /* (owned) [n_workers] since when each is free, on the tape */
  uint32_t *idle;    /* (owned) [n_idle] workers; the last one takes the next task */
  uint32_t n_idle;
} td_predicted_team;

/* What lasts from one model to the next. Zero-initialise but for the first two. */
typedef struct td_prediction_tape {
  td_maker *maker; /* (borrowed) */
  const td_virtual_plan *plan;
  td_number_map nodes;      /* that the tape has: 1, or 2 with its edges */
  td_number_map team_of;    /* 1 + place in `teams`, by device or owner */
  td_predicted_team *teams; /* (owned) */
  uint32_t n_teams, teams_capacity, n_threads;
  uint32_t last_thread;
  uint64_t last_ns;     /* on the tape, of its last event */
  int64_t shift_ns;     /* from a model's time to the tape's */
  uint64_t recorded_ns; /* when the model before ended, as it was recorded */
  bool has_begun;       /* the session */
} td_prediction_tape;

/* td_prediction_tape_add runs a model, and adds what happens. TD_OUT_OF_MEMORY. */
td_status td_prediction_tape_add(td_prediction_tape *tape, const td_pass_model *model,
                                 const td_catalog *catalog);

/* td_prediction_tape_end adds the end of the session, and frees all but the borrowed. */
void td_prediction_tape_end(td_prediction_tape *tape);

/* For the parts of this module: */

/* td_prediction_tape_at returns the time of the next event on a thread of the tape. Events that
 * happen at once on several threads keep their order: each comes a nanosecond later. */
uint64_t td_prediction_tape_at(td_prediction_tape *tape, uint32_t thread, uint64_t ns);

/* TD_PREDICT adds an event on a thread of the tape, at a time of the model. */
#define TD_PREDICT(tape, thread, ns, name, ...)                                                    \
  TD_MAKE((tape)->maker, thread, td_prediction_tape_at(tape, thread, ns), name, __VA_ARGS__)

/* td_prediction_tape_team returns the place of a team in tape->teams, plus 1.
 * td_prediction_tape_thread returns the thread of a worker. Both appear on the tape when they are
 * first needed. */
uint32_t td_prediction_tape_team(td_prediction_tape *tape, const td_catalog *catalog,
                                 int32_t device, uint32_t owner, uint64_t ns);
uint32_t td_prediction_tape_thread(td_prediction_tape *tape, const td_catalog *catalog,
                                   const td_predicted_team *team, uint32_t worker, uint64_t ns);

/* td_prediction_tape_declare adds the nodes of a model that the tape does not have yet. */
void td_prediction_tape_declare(td_prediction_tape *tape, const td_pass_model *model,
                                const td_catalog *catalog, uint64_t ns);
