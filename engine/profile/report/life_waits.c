/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/life_waits.h"

#include "engine/base/alloc.h"

static uint32_t
find_block(td_life_waits *waits, uint64_t key) {
  uint64_t *number = td_number_map_put(&waits->numbers, key);
  if (*number == 0) {
    TD_GROW(waits->blocks, waits->n, waits->capacity);
    waits->blocks[waits->n] = (td_life_wait_block){0};
    *number = ++waits->n;
  }
  return (uint32_t)*number;
}

td_life_wait *
td_life_waits_get(td_life_waits *waits, uint32_t graph_task, uint32_t node) {
  uint32_t block = node / TD_LIFE_WAITS_PER_BLOCK, recent = block % TD_LIFE_WAITS_RECENT;
  uint64_t key = (uint64_t)graph_task << 32 | block;
  if (!waits->recent[recent].number || waits->recent[recent].key != key) {
    waits->recent[recent].key = key;
    waits->recent[recent].number = find_block(waits, key);
  }
  td_life_wait_block *found = &waits->blocks[waits->recent[recent].number - 1];
  return &found->waits[node % TD_LIFE_WAITS_PER_BLOCK];
}

void
td_life_waits_arrive(td_life_waits *waits, const td_event_buffer_add *event, uint64_t now) {
  td_life_wait *wait = td_life_waits_get(waits, event->graph_task, event->node);
  if (!wait->arrival_ns) wait->arrival_ns = now;
}

void
td_life_waits_push(td_life_waits *waits, const td_event_queue_push *event, uint64_t now) {
  td_life_waits_get(waits, event->graph_task, event->node)->push_ns = now;
}

void
td_life_waits_fini(td_life_waits *waits) {
  free(waits->blocks);
  td_number_map_fini(&waits->numbers);
  *waits = (td_life_waits){0};
}
