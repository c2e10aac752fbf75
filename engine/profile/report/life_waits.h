/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Since when tasks have waited. Private to engine/profile. Zero-initialise. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/events/event_type.h"

/* A node in a pass: when its first gradient arrived and when it entered a queue; 0: not yet. */
typedef struct td_life_wait {
  uint64_t arrival_ns, push_ns;
} td_life_wait;

/* Nodes of a pass whose ids follow one another: most of them wait at about the same time. */
#define TD_LIFE_WAITS_PER_BLOCK 8u

typedef struct td_life_wait_block {
  td_life_wait waits[TD_LIFE_WAITS_PER_BLOCK];
} td_life_wait_block;

#define TD_LIFE_WAITS_RECENT 16u

typedef struct td_life_waits {
  td_life_wait_block *blocks; /* (owned) */
  uint32_t n, capacity;
  td_number_map numbers; /* by graph task and block of ids: 1 + the block */
  struct {
    uint64_t key;
    uint32_t number; /* 1 + the block, or 0 */
  } recent[TD_LIFE_WAITS_RECENT];
} td_life_waits;

/* td_life_waits_get finds a task or adds it; the pointer is good until the next call. */
td_life_wait *td_life_waits_get(td_life_waits *waits, uint32_t graph_task, uint32_t node);

/* td_life_waits_arrive notes when the first gradient arrived, td_life_waits_push when the task
 * entered a queue. */
void td_life_waits_arrive(td_life_waits *waits, const td_event_buffer_add *event, uint64_t now);
void td_life_waits_push(td_life_waits *waits, const td_event_queue_push *event, uint64_t now);
void td_life_waits_fini(td_life_waits *waits);
