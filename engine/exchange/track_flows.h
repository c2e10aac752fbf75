/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Gradients on their way, as numbers of flows: from the node that returned one to the node that
 * takes it. Zero-initialise. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/exchange/track_sink.h"

typedef struct td_flow_list {
  uint64_t *numbers; /* (owned) */
  uint32_t n, capacity;
} td_flow_list;

typedef struct td_flights {
  struct td_flight *items;          /* (owned) */
  uint32_t n, capacity, first_free; /* first_free: 1 + item, or 0 */
  td_number_map waiting;            /* by graph task and node: 1 + the first item, or 0 */
  uint64_t n_flows;
} td_flights;

/* td_flights_add gives a gradient to a node its number. td_flights_land takes the numbers of all
 * gradients that came to a node, and writes them into `list`. td_flights_clear forgets all. */
uint64_t td_flights_add(td_flights *flights, uint32_t graph_task, uint32_t node);
void td_flights_land(td_flights *flights, uint32_t graph_task, uint32_t node, td_flow_list *list);
void td_flights_clear(td_flights *flights);

/* td_flow_list_add adds a number. */
void td_flow_list_add(td_flow_list *list, uint64_t number);
