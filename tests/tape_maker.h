/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tapes to test with: a random graph, run by a small scheduler of its own that takes turns among
 * simulated threads, so that every run of a seed tells the same events in the same order.
 * Independent of engine/autograd on purpose. Main thread only. */
#pragma once

#include "engine/base/status.h"
#include "engine/events/event.h"

typedef struct td_tape_plan {
  uint32_t n_nodes;   /* at least 2; about a quarter are leaves */
  uint32_t n_threads; /* 1: the CPU alone; more: a device each */
  uint32_t n_passes;  /* over the same graph */
  bool trains;        /* each pass over a graph of its own, made before and released after it */
  bool hooked;        /* says that queues were reconstructed, as node hooks would */
  uint64_t seed;
  uint32_t n_anomalies;
} td_tape_plan;

/* Events in order, with `thread` as the plan numbers it and no times. */
typedef struct td_tape_script {
  td_any_event *events; /* (owned) */
  size_t n, capacity;
  uint32_t n_threads;
} td_tape_script;

/* td_tape_script_make tells all events of a plan; td_tape_script_fini frees them. */
void td_tape_script_make(td_tape_script *script, const td_tape_plan *plan);
void td_tape_script_fini(td_tape_script *script);

/* td_tape_script_write records a script, bent or not, as a tape. */
td_status td_tape_script_write(const td_tape_script *script, const char *path, td_error *error);

/* td_tape_make records a plan as a tape without holding its events in memory. */
td_status td_tape_make(const td_tape_plan *plan, const char *path, td_error *error);
