/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Emitting events. `TD_EMIT(queue_wake, .queue = q, .graph_task = g)` puts an event into the ring
 * of the calling thread. It takes no lock, allocates nothing and makes no system call but the
 * clock. Only the first event of a thread makes the ring. Without a recorder it costs one load and
 * one predicted branch. Any thread.
 *
 * Note [Stamps under a lock]
 * The tape is the merge of all rings by time. So the time of an event about shared state must lie
 * in the span in which its thread held the lock of that state. But the processor may read the
 * counter before the thread has the lock. The fence against that (td_clock_ordered) costs as much
 * as the read. The trick: if this thread was also the last to hold the lock, no other thread has
 * an event in between. Any time from this thread's last event on will then do. TD_EMIT_BORROWED
 * reuses the time of that event and reads no
 * clock at all. td_lock_stamp (engine/events/lock.h) decides. */
#pragma once

#include "engine/base/clock.h"
#include "engine/events/ring.h"

#define TD_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define TD_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* The emit registry: the one global of the engine. Nonzero while a recorder runs: the session's
 * number. */
extern _Atomic uint32_t td_emit_session_now;
extern _Thread_local td_ring *td_emit_ring __attribute__((tls_model("initial-exec")));

/* td_recording tells whether events are wanted; td_emit_session numbers recordings from 1, 0 for
 * none. */
static inline uint32_t
td_emit_session(void) {
  return atomic_load_explicit(&td_emit_session_now, memory_order_relaxed);
}

static inline bool
td_recording(void) {
  return TD_UNLIKELY(td_emit_session() != 0);
}

/* td_emit_make_room is the slow path: makes the thread's ring, waits for or gives up on space.
 * NULL: drop. */
td_ring *td_emit_make_room(size_t size);

static inline td_ring *
td_emit_reserve(size_t size) {
  td_ring *ring = td_emit_ring;
  if (TD_UNLIKELY(!ring || ring->head + size > ring->limit)) return td_emit_make_room(size);
  return ring;
}

static inline void
td_emit_publish(td_ring *ring, uint64_t time, size_t size) {
  ring->last_time = time;
  ring->head += size;
  atomic_store_explicit(&ring->published, ring->head, memory_order_release);
}

/* td_emit_first_time is the slow path of td_emit_last_time. */
uint64_t td_emit_first_time(void);

/* td_emit_last_time returns the time of the calling thread's last event, or now if it has none in
 * this recording. The recorder drops events that bear a time of an earlier one. */
static inline uint64_t
td_emit_last_time(void) {
  const td_ring *ring = td_emit_ring;
  if (TD_LIKELY(ring && ring->session == td_emit_session())) return ring->last_time;
  return td_emit_first_time();
}

/* The fields are evaluated first: they may intern a string, which emits an event of its own. */
#define TD_EMIT_AT(when, name, ...)                                                                \
  do {                                                                                             \
    if (td_recording()) {                                                                          \
      td_event_##name event_ = {.event = {.kind = TD_EVENT_##name, .size = sizeof event_},         \
                                __VA_ARGS__};                                                      \
      event_.event.time = (when);                                                                  \
      td_ring *ring_ = td_emit_reserve(sizeof event_);                                             \
      if (TD_LIKELY(ring_ != NULL)) {                                                              \
        event_.event.thread = ring_->thread;                                                       \
        *(td_event_##name *)(void *)(ring_->bytes + (ring_->head & ring_->mask)) = event_;         \
        td_emit_publish(ring_, event_.event.time, sizeof event_);                                  \
      }                                                                                            \
    }                                                                                              \
  } while (0)

#define TD_EMIT(name, ...) TD_EMIT_AT(td_clock_now(), name, __VA_ARGS__)
#define TD_EMIT_BORROWED(name, ...) TD_EMIT_AT(td_emit_last_time(), name, __VA_ARGS__)

/* td_intern returns the number of a string and puts the string on the tape if it is new. Equal
 * strings have equal numbers for the life of the process. 0 for NULL or "". It takes a lock: not
 * for the hot path. */
uint32_t td_intern(const char *text);

/* td_intern_static is td_intern for literals: a small table is looked up by address. */
uint32_t td_intern_static(const char *literal);

/* td_emit_thread_id returns the calling thread's number in events. It makes the thread's ring if a
 * recorder runs, and returns TD_NONE if none runs. */
uint32_t td_emit_thread_id(void);

/* td_emit_thread_of returns the number of the living thread that the kernel knows by `tid`. TD_NONE
 * if it has never emitted. It takes a lock: not for the hot path. */
uint32_t td_emit_thread_of(int tid);

/* td_emit_meet_thread is td_emit_thread_of, but it gives a living thread that has never emitted a
 * number too, on the calling thread's ring. Such a thread has no name until somebody calls
 * td_emit_name_met. That asks `dup_name` for the name of each; the name may be NULL, and is freed.
 * td_emit_n_unnamed: how many wait for it, perhaps fewer. They take locks: not for the hot path. */
uint32_t td_emit_meet_thread(int tid);
void td_emit_name_met(char *(*dup_name)(int tid));
extern _Atomic uint32_t td_emit_n_unnamed;

/* td_emit_name_thread names the calling thread and the device whose queue the thread serves.
 * td_emit_thread_has_name tells whether it was called on this thread. */
void td_emit_name_thread(const char *name, int32_t device);
bool td_emit_thread_has_name(void);

/* td_emit_device announces a device, now and at the start of every later recording. */
void td_emit_device(int32_t device, const char *name);

/* td_intern_repeat puts all strings of the process on the tape of a new recording. */
void td_intern_repeat(void);

/* For the recorder alone. td_emit_enable begins a session and emits what the process knows already:
 * strings, devices, threads. The policy and the ring size hold for rings made from then on.
 * td_emit_disable ends the session. td_emit_each_ring visits rings. It frees the ring of a thread
 * that has ended once the visit has emptied that ring. */
void td_emit_enable(td_ring_policy policy, size_t ring_bytes);
void td_emit_disable(void);

/* td_emit_n_lost_threads returns how many times in this recording a thread's events were lost for
 * want of memory for a ring. */
uint32_t td_emit_n_lost_threads(void);
void td_emit_wait_wanted(uint64_t timeout_ns); /* until a ring is half full, or someone calls */
void td_emit_call_recorder(void);
void td_emit_each_ring(void (*visit)(td_ring *ring, void *data), void *data);
