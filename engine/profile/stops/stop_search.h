/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stops on a tape: the events at which a condition holds (engine/control/condition.h), looked for
 * from a place forwards or backwards. A search reads one segment at a time and holds no events. It
 * judges each event by itself, with the names that its segment tells of nodes. So both directions
 * find the same. One thread at a time. */
#pragma once

#include "engine/control/condition.h"
#include "engine/trace/tape.h"

/* A search takes so many conditions at most, and leaves out what is beyond. */
#define TD_STOPS_MAX 64

typedef struct td_stop_search td_stop_search;

/* td_stop_search_new borrows the tape and the conditions. */
td_stop_search *td_stop_search_new(td_tape *tape, const td_condition *conditions, uint32_t n);
void td_stop_search_free(td_stop_search *search);

/* It is called now and then; false ends the search. NULL: the caller waits for the end. */
typedef bool (*td_stop_patience)(void *data);

/* An event and the conditions that hold there: bit i for the condition i. */
typedef struct td_stop_hit {
  uint64_t seq, conditions;
} td_stop_hit;

/* td_stop_search_find looks at event `from` and those after it, or at the events before `from`, the
 * nearest first. TD_OUT_OF_RANGE if there is no hit; TD_INVALID if patience ended; else as
 * td_tape_get. Events that cannot be read are no hits. */
td_status td_stop_search_find(td_stop_search *search, uint64_t from, bool forwards,
                              td_stop_patience patience, void *data, td_stop_hit *hit,
                              td_error *error);

/* td_stop_search_count counts the hits of each condition on the whole tape. */
td_status td_stop_search_count(td_stop_search *search, td_stop_patience patience, void *data,
                               uint64_t counts[TD_STOPS_MAX], td_error *error);

/* td_stop_moment_of_node fills in a moment in which a node runs, for judging a node by itself. */
td_condition_moment td_stop_moment_of_node(uint32_t node, const char *name, const char *module,
                                           const char *label);
