/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The binary max-heap of the ready queue. Users see its order among equal sequence numbers, so it
 * breaks ties exactly as std::push_heap and std::pop_heap of libstdc++ do. See Note [Tie order] in
 * engine/DESIGN.md. The engine's queue, the rules and the replay use this one template.
 *
 * TD_HEAP_DEFINE(prefix, type, get, before, set) defines
 *   void prefix_push(type *heap, size_t n, type item, context)   the heap grows from n to n + 1
 *   type prefix_pop(type *heap, size_t n, context)               the heap shrinks from n to n - 1
 * and prefix_remove(type *heap, size_t n, size_t at, context), which is prefix_pop for any item.
 * `before(a, b, context)` is true when b goes strictly before a (a is smaller). `get(context, heap,
 * i)` is an item, and `set(context, heap, i, value)` stores one: TD_HEAP_GET and TD_HEAP_SET for an
 * array. The replay's items lie in pages and are journalled. The caller holds the lock. */
#pragma once

#include <stddef.h>

#define TD_HEAP_GET(context, heap, i) ((heap)[i])
#define TD_HEAP_SET(context, heap, i, value) ((heap)[i] = (value))

#define TD_HEAP_DEFINE(prefix, type, get, before, set)                                             \
  static void prefix##_sift_up(type *heap, size_t hole, type item, void *context) {                \
    while (hole > 0) {                                                                             \
      size_t parent = (hole - 1) / 2;                                                              \
      if (!before(get(context, heap, parent), item, context)) break;                               \
      set(context, heap, hole, get(context, heap, parent));                                        \
      hole = parent;                                                                               \
    }                                                                                              \
    set(context, heap, hole, item);                                                                \
  }                                                                                                \
  static inline void prefix##_push(type *heap, size_t n, type item, void *context) {               \
    prefix##_sift_up(heap, n, item, context);                                                      \
  }                                                                                                \
  static inline type prefix##_remove(type *heap, size_t n, size_t at, void *context) {             \
    type taken = get(context, heap, at), last = get(context, heap, n - 1);                         \
    size_t length = n - 1, hole = at;                                                              \
    if (at == length) return taken;                                                                \
    while (2 * hole + 2 < length) {                                                                \
      size_t child = 2 * hole + 2;                                                                 \
      if (before(get(context, heap, child), get(context, heap, child - 1), context)) child--;      \
      set(context, heap, hole, get(context, heap, child));                                         \
      hole = child;                                                                                \
    }                                                                                              \
    if (2 * hole + 2 == length) {                                                                  \
      set(context, heap, hole, get(context, heap, 2 * hole + 1));                                  \
      hole = 2 * hole + 1;                                                                         \
    }                                                                                              \
    prefix##_sift_up(heap, hole, last, context);                                                   \
    return taken;                                                                                  \
  }                                                                                                \
  static inline type prefix##_pop(type *heap, size_t n, void *context) {                           \
    return prefix##_remove(heap, n, 0, context);                                                   \
  }
