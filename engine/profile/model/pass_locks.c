/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/pass_locks.h"

#include "engine/base/alloc.h"

td_pass_lock *
td_pass_locks_get(td_pass_locks *self, td_lock_kind kind, uint32_t object) {
  uint64_t *number = td_number_map_put(&self->numbers, (uint64_t)kind << 32 | object);
  if (!*number) {
    TD_GROW(self->items, self->n, self->capacity);
    self->items[self->n] = (td_pass_lock){.taker = TD_NONE, .releaser = TD_NONE};
    *number = ++self->n;
  }
  return &self->items[*number - 1];
}

bool
td_pass_wait_is_for(const td_pass_wait *wait, td_lock_kind kind, uint32_t object) {
  return wait->is_on && wait->lock == kind && wait->object == object;
}

bool
td_pass_wait_settle(td_pass_wait *wait, const td_pass_lock *lock, uint32_t thread) {
  if (lock->taken_order > wait->order) {
    wait->holder = lock->taker;
    wait->holder_piece = lock->taker_piece;
  }
  if (wait->holder == thread) wait->holder = wait->holder_piece = TD_NONE;
  return wait->holder != TD_NONE && lock->releaser == wait->holder &&
         lock->released_order > TD_MAX(wait->order, lock->taken_order);
}

void
td_pass_locks_clear(td_pass_locks *self) {
  self->n = 0;
  td_number_map_fini(&self->numbers);
}

void
td_pass_locks_fini(td_pass_locks *self) {
  td_pass_locks_clear(self);
  free(self->items);
  *self = (td_pass_locks){0};
}
