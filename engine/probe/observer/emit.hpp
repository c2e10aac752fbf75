/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Emitting events from C++: engine/events/emit.h again, where it must be fast. The thread's ring is
 * remembered for the recording that it was obtained in. */
#pragma once

#include "engine/probe/probe.h"

#include <string.h>

namespace tapedeck {

/* Times that are filled in. */
constexpr uint64_t TIME_NOW = 0;  /* the clock */
constexpr uint64_t TIME_LAST = 1; /* of the thread's last event: Note [Stamps under a lock] */

/* A thread that is ending remembers no ring. */
constexpr uint32_t SESSION_ENDING = UINT32_MAX;

extern __thread td_ring *ring_self __attribute__((tls_model("initial-exec")));
extern __thread uint32_t ring_session __attribute__((tls_model("initial-exec")));

td_ring *ring_obtain();

inline td_ring *
ring_now() {
  return __builtin_expect(ring_session == td_probe_session, 1) ? ring_self : ring_obtain();
}

template <class Event>
inline void
emit(Event &event) {
  td_ring *ring = ring_now();
  if (__builtin_expect(!ring, 0)) return;
  if (__builtin_expect(ring->head + sizeof event > ring->limit, 0))
    if (!(ring = td_probe_make_room(sizeof event))) return;
  if (event.event.time == TIME_NOW) event.event.time = td_clock_now();
  if (event.event.time == TIME_LAST) event.event.time = ring->last_time;
  event.event.thread = ring->thread;
  memcpy(ring->bytes + (ring->head & ring->mask), &event, sizeof event);
  ring->last_time = event.event.time;
  ring->head += sizeof event;
  __atomic_store_n(&ring->published, ring->head, __ATOMIC_RELEASE);
}

/* EMIT(queue_wake, TIME_NOW, queue, ...): fields in the order of events.def. */
#define EMIT(name, when, ...)                                                                      \
  do {                                                                                             \
    td_event_##name event_ = {{(when), TD_EVENT_##name, sizeof(td_event_##name), 0}, __VA_ARGS__}; \
    ::tapedeck::emit(event_);                                                                      \
  } while (0)

/* A time for events about what a lock guards, which the caller holds; *last is guarded by it too
 * and remembers whose events came last. It begins as TD_NONE. */
inline uint64_t
stamp(uint32_t *last) {
  td_ring *ring = ring_now();
  if (!ring || *last == ring->thread) return TIME_LAST;
  *last = ring->thread;
  return td_clock_ordered();
}

} // namespace tapedeck
