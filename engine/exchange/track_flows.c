/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/track_flows.h"

#include "engine/base/alloc.h"

typedef struct td_flight {
  uint64_t number;
  uint32_t next; /* 1 + item, or 0 */
} td_flight;

static uint64_t
key_of(uint32_t graph_task, uint32_t node) {
  return (uint64_t)graph_task << 32 | node;
}

static uint32_t
new_item(td_flights *self) {
  uint32_t item = self->first_free;
  if (item) {
    self->first_free = self->items[item - 1].next;
    return item;
  }
  TD_GROW(self->items, self->n, self->capacity);
  return ++self->n;
}

uint64_t
td_flights_add(td_flights *self, uint32_t graph_task, uint32_t node) {
  uint32_t item = new_item(self);
  uint64_t *first = td_number_map_put(&self->waiting, key_of(graph_task, node));
  self->items[item - 1] = (td_flight){++self->n_flows, (uint32_t)*first};
  *first = item;
  return self->n_flows;
}

void
td_flights_land(td_flights *self, uint32_t graph_task, uint32_t node, td_flow_list *list) {
  uint64_t *first = td_number_map_find(&self->waiting, key_of(graph_task, node));
  list->n = 0;
  while (first && *first) {
    uint32_t item = (uint32_t)*first;
    td_flight *flight = &self->items[item - 1];
    td_flow_list_add(list, flight->number);
    *first = flight->next;
    flight->next = self->first_free;
    self->first_free = item;
  }
}

void
td_flights_clear(td_flights *self) {
  uint64_t n_flows = self->n_flows;
  td_number_map_fini(&self->waiting);
  free(self->items);
  *self = (td_flights){.n_flows = n_flows};
}

void
td_flow_list_add(td_flow_list *list, uint64_t number) {
  TD_GROW(list->numbers, list->n, list->capacity);
  list->numbers[list->n++] = number;
}
