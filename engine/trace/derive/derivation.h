/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a derivation has under way, and the tape that it writes. Private to this folder. One thread.
 *
 * The events that it writes are in one order, over all threads. Readers order a tape by (time,
 * thread, position), so each event gets a time that says the same: that of the raw event that it
 * stands at, or up to a few nanoseconds later. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/trace/maker.h"

struct td_rqueue;
struct td_rthread;

typedef struct td_derivation {
  td_maker *maker;           /* (owned) */
  uint64_t time;             /* of the last event that was written */
  uint32_t thread;           /* its thread */
  uint64_t now;              /* when what is derived now happened, or a little later */
  uint64_t n_left;           /* how many events may still be derived */
  uint32_t next_string;      /* a number that no text has */
  td_number_map nodes;       /* (owned) of td_rnode *, by id; 0: gone */
  uint32_t n_nodes_gone;     /* zeros in `nodes` */
  td_number_map passes;      /* (owned) of td_rpass *, by graph task; 0: over */
  struct td_rqueue **queues; /* (owned) [n_queues] */
  size_t n_queues, queues_capacity;
  struct td_rthread **threads; /* (owned) [n_threads] NULL: it has done nothing yet */
  uint32_t n_threads;
  bool queues_known;  /* the order of queues is; else they stay off the tape */
  bool sums_in_place; /* PyTorch 2: a sum goes into the first gradient if nobody can see that */
  bool is_damaged;    /* events are missing, and nobody knows which */
} td_derivation;

/* td_derived_copy writes a raw event; what is derived next happens at its time. td_derived_put
 * writes a derived one on some thread. td_derived_text returns the number of a new text. */
void td_derived_copy(td_derivation *self, const td_event *event);
void td_derived_put(td_derivation *self, uint32_t thread, td_any_event event);
uint32_t td_derived_text(td_derivation *self, uint32_t thread, const char *text);

/* TD_DERIVE writes an event of `name` with these fields. */
#define TD_DERIVE(self, on_thread, name, ...)                                                      \
  td_derived_put((self), (on_thread),                                                              \
                 (td_any_event){.name = {.event = {.kind = TD_EVENT_##name}, __VA_ARGS__}})
