/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/life_waits.h"

#include "engine/base/alloc.h"

td_life_wait *
td_life_waits_get(td_life_waits *waits, uint32_t graph_task, uint32_t node) {
  uint64_t *number = td_number_map_put(&waits->numbers, (uint64_t)graph_task << 32 | node);
  if (*number == 0) {
    TD_GROW(waits->items, waits->n, waits->capacity);
    waits->items[waits->n] = (td_life_wait){0};
    *number = ++waits->n;
  }
  return &waits->items[*number - 1];
}

void
td_life_waits_arrive(td_life_waits *waits, const td_event_buffer_add *event) {
  td_life_wait *wait = td_life_waits_get(waits, event->graph_task, event->node);
  if (!wait->arrival_ns) wait->arrival_ns = event->event.time;
}

void
td_life_waits_push(td_life_waits *waits, const td_event_queue_push *event) {
  td_life_waits_get(waits, event->graph_task, event->node)->push_ns = event->event.time;
}

void
td_life_waits_fini(td_life_waits *waits) {
  free(waits->items);
  td_number_map_fini(&waits->numbers);
  *waits = (td_life_waits){0};
}
