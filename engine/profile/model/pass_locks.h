/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who took which lock after a wait, and gave it back. Private to engine/profile. Zero-initialise.
 * One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/model/pass_model.h"

/* How far a thread is with its task. */
typedef struct td_model_place {
  uint32_t piece; /* TD_NONE: it is at no task */
  uint64_t offset_ns;
} td_model_place;

#define TD_NO_PLACE ((td_model_place){TD_NONE, 0})

/* `order` counts events. A thread that found the lock free is not told of. */
typedef struct td_pass_lock {
  uint32_t taker, releaser; /* threads */
  uint64_t taken_order, released_order;
  uint32_t taker_piece;
  td_model_place released;
} td_pass_lock;

typedef struct td_pass_locks {
  td_pass_lock *items; /* (owned) */
  uint32_t n, capacity;
  td_number_map numbers; /* by kind and object: 1 + the item */
} td_pass_locks;

/* A wait of a thread that goes on. */
typedef struct td_pass_wait {
  bool is_on;
  td_lock_kind lock;
  uint32_t object;
  uint32_t holder, holder_piece; /* TD_NONE: unknown; at no task */
  uint64_t order, begin_ns;
  td_model_place from; /* of the waiting thread */
} td_pass_wait;

/* td_pass_locks_get returns a lock, borrowed until the next call. */
td_pass_lock *td_pass_locks_get(td_pass_locks *locks, td_lock_kind kind, uint32_t object);

/* td_pass_wait_is_for tells whether a wait goes on for that lock. */
bool td_pass_wait_is_for(const td_pass_wait *wait, td_lock_kind kind, uint32_t object);

/* td_pass_wait_settle finds who had the lock last. That is the one who took it after a wait of its
 * own, or the one who had it at first. It returns whether the lock tells where that one gave it
 * back. */
bool td_pass_wait_settle(td_pass_wait *wait, const td_pass_lock *lock, uint32_t thread);

void td_pass_locks_clear(td_pass_locks *locks);
void td_pass_locks_fini(td_pass_locks *locks);
