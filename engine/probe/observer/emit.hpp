/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Emitting events from C++: engine/events/emit.h again, where it must be fast. The thread's ring is
 * remembered for the recording that it was obtained in. */
#pragma once

#include "engine/probe/own_time.h"
#include "engine/probe/probe.h"

#include <new>

namespace tapedeck {

/* Times that are filled in. */
constexpr uint64_t TIME_NOW = 0;  /* the clock */
constexpr uint64_t TIME_LAST = 1; /* of the thread's last event: Note [Stamps under a lock] */

/* A thread that is ending remembers no ring. */
constexpr uint32_t SESSION_ENDING = UINT32_MAX;

/* Thread-local, found without a call. A library that is loaded late has room for few of these. The
 * compiler wants the model at the definition too. */
#define TLS_QUICK __attribute__((tls_model("initial-exec"))) __thread

extern TLS_QUICK td_ring *ring_self;
extern TLS_QUICK uint32_t ring_session;

td_ring *ring_obtain();

__attribute__((always_inline)) inline td_ring *
ring_now() {
  return __builtin_expect(ring_session == td_probe_session, 1) ? ring_self : ring_obtain();
}

/* The fields are known before the event gets its place: they may intern a string, which emits an
 * event of its own. They are stored right into the ring. A constructor, because braces around its
 * arguments keep their order. */
template <class Event> struct Emission {
  template <class... Fields> Emission(td_event_kind kind, uint64_t time, Fields... fields);
};

template <class Event>
template <class... Fields>
inline Emission<Event>::Emission(td_event_kind kind, uint64_t time, Fields... fields) {
  td_ring *ring = ring_now();
  if (__builtin_expect(!ring, 0)) return;
  if (__builtin_expect(ring->head + sizeof(Event) > ring->limit, 0))
    if (!(ring = td_probe_make_room(sizeof(Event)))) return;
  if (time == TIME_NOW) time = td_clock_now();
  if (time == TIME_LAST) time = ring->last_time;
  new (ring->bytes + (ring->head & ring->mask))
      Event{{time, static_cast<uint16_t>(kind), sizeof(Event), ring->thread}, fields...};
  ring->last_time = time;
  ring->head += sizeof(Event);
  __atomic_store_n(&ring->published, ring->head, __ATOMIC_RELEASE);
}

/* Times work of the recorder that may take long: own_time.h. */
class Timed {
public:
  explicit Timed(td_recorder_work work, bool is_on = true)
      : work(work), is_on(is_on), time(is_on ? td_own_begin() : td_own_time{}) {
  }
  ~Timed() {
    if (is_on) td_own_end(time, work);
  }
  Timed(const Timed &) = delete;
  Timed &operator=(const Timed &) = delete;

private:
  td_recorder_work work;
  bool is_on;
  td_own_time time;
};

/* EMIT(queue_wake, TIME_NOW, queue, ...): fields in the order of events.def. */
#define EMIT(name, when, ...)                                                                      \
  ::tapedeck::Emission<td_event_##name> {                                                          \
    TD_EVENT_##name, (when), __VA_ARGS__                                                           \
  }

/* A stretch of so many ticks is worth a look for waits for a core, at its end. Note [Waits for a
 * core] in engine/events/core_waits.h. It begins with the event that was emitted last. */
constexpr uint64_t LONG_TICKS = 250000;

inline uint64_t
begin_stretch() {
  const td_ring *ring = ring_now();
  return ring ? ring->last_time : td_clock_now();
}

inline uint64_t
end_stretch(uint64_t begin) {
  uint64_t took = td_clock_now() - begin;
  if (__builtin_expect(took >= LONG_TICKS, 0)) td_probe_look_at_core();
  return took;
}

/* A time for events about what a lock guards, which the caller holds; *last is guarded by it too
 * and remembers whose events came last. It begins as TD_NONE. */
inline uint64_t
stamp(uint32_t *last) {
  td_ring *ring = ring_now();
  if (!ring || *last == ring->thread) return TIME_LAST;
  *last = ring->thread;
  return td_clock_ordered();
}

/* The same, but it always reads the clock: what came before it may have taken long. */
inline uint64_t
stamp_now(uint32_t *last) {
  uint64_t time = stamp(last);
  return time == TIME_LAST ? TIME_NOW : time;
}

} // namespace tapedeck
