/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/events/strings.h"

#include <string.h>

/* A record's size has 16 bits: a longer string is cut. */
#define STRING_BYTES_MAX 60000

static void
emit_string(uint32_t id, const char *text) {
  size_t length = TD_MIN(strlen(text), (size_t)STRING_BYTES_MAX);
  size_t size = (sizeof(td_event_string) + length + 7) & ~(size_t)7;
  td_ring *ring = td_emit_reserve(size);
  if (!ring) return;
  td_event_string *event = (void *)(ring->bytes + (ring->head & ring->mask));
  uint64_t time = td_clock_now();
  *event = (td_event_string){.event = {time, TD_EVENT_string, (uint16_t)size, ring->thread},
                             .id = id,
                             .length = (uint32_t)length};
  memcpy(event + 1, text, length);
  td_emit_publish(ring, time, size);
}

/* A new string is emitted under the table's lock. So no other thread's use of the number can bear
 * an earlier time than the string. */
uint32_t
td_intern(const char *text) {
  if (!text || !*text) return 0;
  bool is_new;
  td_strings_lock();
  uint32_t id = td_strings_add_locked(text, &is_new);
  if (is_new && td_recording()) emit_string(id, text);
  td_strings_unlock();
  return id;
}

/* Shared by all threads, and a place is written once. A library that is loaded late gets little
 * thread-local memory. */
uint32_t
td_intern_static(const char *literal) {
  static struct {
    _Atomic(const char *) literal;
    _Atomic uint32_t id; /* 0: not known yet */
  } known[1024];
  size_t first = (uintptr_t)literal >> 3 ^ (uintptr_t)literal >> 9;
  for (size_t i = first; i < first + 4; i++) {
    const char *there = NULL;
    size_t at = i % TD_N_ELEMENTS(known);
    uint32_t id = atomic_load_explicit(&known[at].id, memory_order_acquire);
    if (id && atomic_load_explicit(&known[at].literal, memory_order_relaxed) == literal) return id;
    if (id || !atomic_compare_exchange_strong(&known[at].literal, &there, literal)) continue;
    id = td_intern(literal);
    atomic_store_explicit(&known[at].id, id, memory_order_release);
    return id;
  }
  return td_intern(literal);
}

void
td_intern_repeat(void) {
  td_strings_lock();
  for (uint32_t id = 1; id < td_strings_n_locked(); id++)
    emit_string(id, td_strings_text_locked(id));
  td_strings_unlock();
}
