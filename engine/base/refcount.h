/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Intrusive reference counts. Any thread. Each td_refcount_dec is a release and an acquire: the
 * thread that frees sees all writes made through other references. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct td_refcount {
  _Atomic uint32_t count;
} td_refcount;

static inline void
td_refcount_init(td_refcount *refs) {
  atomic_init(&refs->count, 1);
}

static inline void
td_refcount_inc(td_refcount *refs) {
  atomic_fetch_add_explicit(&refs->count, 1, memory_order_relaxed);
}

/* td_refcount_try_inc takes a reference unless the count has already reached zero. It upgrades a
 * weak reference, whose holder keeps the memory alive. */
static inline bool
td_refcount_try_inc(td_refcount *refs) {
  uint32_t count = atomic_load_explicit(&refs->count, memory_order_relaxed);
  while (count)
    if (atomic_compare_exchange_weak_explicit(&refs->count, &count, count + 1, memory_order_acquire,
                                              memory_order_relaxed))
      return true;
  return false;
}

/* td_refcount_dec drops a reference. True: it was the last one, and the caller frees. The acquire
 * is not a fence, because the thread sanitizer does not model fences. */
static inline bool
td_refcount_dec(td_refcount *refs) {
  return atomic_fetch_sub_explicit(&refs->count, 1, memory_order_acq_rel) == 1;
}

static inline uint32_t
td_refcount_get(const td_refcount *refs) {
  return atomic_load_explicit(&((td_refcount *)refs)->count, memory_order_acquire);
}
