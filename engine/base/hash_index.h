/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one hash table. The owner keeps its items in an array, in the order in which they came. The
 * index finds an item's number by its key: open addressing with linear probing, at most half full.
 * Numbers begin with 1. Items are never removed. Zero-initialise. The owner's lock guards it.
 *
 * TD_HASH_INDEX_DEFINE(prefix, key, hash, key_of, equal) defines
 *   uint32_t prefix_find(index, key wanted, context)      the number of the item, or 0
 *   uint32_t prefix_put(index, n, key wanted, context)    the same, or n + 1 for a new item
 *
 * `n` is how many items there are. If the item is new, the caller appends it before the next call.
 *
 * `hash(key)` returns bits of which the lowest choose the place. `key_of(context, number)` reads an
 * item's key from the owner, which is `context`. `equal(a, b)` compares two keys. */
#pragma once

#include "engine/base/alloc.h"

#include <stdint.h>

typedef struct td_hash_index {
  uint32_t *slots;  /* (owned) numbers, 0 for free */
  uint32_t n_slots; /* a power of two, or 0 */
} td_hash_index;

#define TD_HASH_INDEX_SLOTS_AT_FIRST 64

#define TD_HASH_INDEX_DEFINE(prefix, key, hash, key_of, equal)                                     \
  static inline uint32_t *prefix##_slot(const td_hash_index *index, key wanted,                    \
                                        const void *context) {                                     \
    uint32_t mask = index->n_slots - 1, at = (uint32_t)(hash(wanted)) & mask;                      \
    while (index->slots[at] && !equal(key_of(context, index->slots[at]), wanted))                  \
      at = (at + 1) & mask;                                                                        \
    return &index->slots[at];                                                                      \
  }                                                                                                \
  static void prefix##_grow(td_hash_index *index, uint32_t n, const void *context) {               \
    free(index->slots);                                                                            \
    index->n_slots = index->n_slots ? 2 * index->n_slots : TD_HASH_INDEX_SLOTS_AT_FIRST;           \
    index->slots = TD_NEW_N(uint32_t, index->n_slots);                                             \
    for (uint32_t number = 1; number <= n; number++)                                               \
      *prefix##_slot(index, key_of(context, number), context) = number;                            \
  }                                                                                                \
  static inline __attribute__((unused))                                                            \
  uint32_t prefix##_find(const td_hash_index *index, key wanted, const void *context) {            \
    return index->n_slots ? *prefix##_slot(index, wanted, context) : 0;                            \
  }                                                                                                \
  static inline uint32_t prefix##_put(td_hash_index *index, uint32_t n, key wanted,                \
                                      const void *context) {                                       \
    if (2 * ((uint64_t)n + 1) > index->n_slots) prefix##_grow(index, n, context);                  \
    uint32_t *slot = prefix##_slot(index, wanted, context);                                        \
    if (!*slot) *slot = n + 1;                                                                     \
    return *slot;                                                                                  \
  }

/* TD_HASH_INDEX_EQUAL is `equal` for keys that are numbers or pointers. The `hash` of numbers that
 * a stranger chose must spread them: td_hash_number. Else two long runs of ids, a multiple of the
 * table's size apart, make every search a walk along a run. */
#define TD_HASH_INDEX_EQUAL(a, b) ((a) == (b))

static inline void
td_hash_index_fini(td_hash_index *index) {
  free(index->slots);
  *index = (td_hash_index){0};
}
