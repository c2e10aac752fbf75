/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The binary max-heap of the ready queue. Users see its order among equal sequence numbers, so it
 * breaks ties exactly as std::push_heap and std::pop_heap of libstdc++ do. See Note [Tie order] in
 * engine/DESIGN.md. The engine's queue and its replay use this one template.
 *
 * TD_HEAP_DEFINE(prefix, type, before, set) defines
 *   void prefix_push(type *heap, size_t n, type item, context)   the heap grows from n to n + 1
 *   type prefix_pop(type *heap, size_t n, context)               the heap shrinks from n to n - 1
 * `before(a, b, context)` is true when b goes strictly before a (a is smaller). `set(context, slot,
 * value)` stores a value: a plain assignment in the engine, a journalled one in the replay. The
 * caller holds the lock. */
#pragma once

#include <stddef.h>

#define TD_HEAP_DEFINE(prefix, type, before, set)                                                  \
  static void prefix##_sift_up(type *heap, size_t hole, type item, void *context) {                \
    while (hole > 0) {                                                                             \
      size_t parent = (hole - 1) / 2;                                                              \
      if (!before(heap[parent], item, context)) break;                                             \
      set(context, &heap[hole], heap[parent]);                                                     \
      hole = parent;                                                                               \
    }                                                                                              \
    set(context, &heap[hole], item);                                                               \
  }                                                                                                \
  static inline void prefix##_push(type *heap, size_t n, type item, void *context) {               \
    prefix##_sift_up(heap, n, item, context);                                                      \
  }                                                                                                \
  static inline type prefix##_pop(type *heap, size_t n, void *context) {                           \
    type top = heap[0], last = heap[n - 1];                                                        \
    size_t length = n - 1, hole = 0, child = 0;                                                    \
    while (length > 1 && child < (length - 1) / 2) {                                               \
      child = 2 * (child + 1);                                                                     \
      if (before(heap[child], heap[child - 1], context)) child--;                                  \
      set(context, &heap[hole], heap[child]);                                                      \
      hole = child;                                                                                \
    }                                                                                              \
    if (length > 0 && length % 2 == 0 && child == (length - 2) / 2) {                              \
      child = 2 * child + 1;                                                                       \
      set(context, &heap[hole], heap[child]);                                                      \
      hole = child;                                                                                \
    }                                                                                              \
    if (length > 0) prefix##_sift_up(heap, hole, last, context);                                   \
    return top;                                                                                    \
  }
