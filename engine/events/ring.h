/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ring: one thread's events on their way to the recorder. One producer (the thread), one consumer
 * (the recorder). The buffer is mapped twice in a row, so that no record ever wraps.
 *
 * Atomics: the producer stores `published` with release, and the consumer loads it with acquire. So
 * the consumer finds the bytes of every record that it may read. `consumed` works the other way
 * round: the producer overwrites only bytes that the consumer has read. */
#pragma once

#include "engine/events/event.h"

#include <semaphore.h>

/* An observer, which is C++, emits too: it sees the same bytes, and uses the compiler's atomics. */
#ifdef __cplusplus
#define _Atomic(type) type
#define _Alignas(n) alignas(n)
#else
#include <stdatomic.h>
#endif

typedef enum td_ring_policy {
  TD_RING_BLOCK, /* a full ring makes its thread wait: nothing is lost */
  TD_RING_DROP,  /* a full ring loses events, counts them and says so on the tape */
} td_ring_policy;

typedef struct td_ring td_ring;
struct td_ring {
  unsigned char *bytes; /* (owned) mapped twice */
  uint64_t mask;        /* size - 1 */
  uint32_t thread;
  /* the producer's alone: */
  _Alignas(64) uint64_t head;
  uint64_t limit;     /* head may grow up to here without looking at `consumed` again */
  uint64_t last_time; /* of its last event */
  uint32_t session;   /* the recording that last_time is known to belong to */
  /* shared: */
  _Alignas(64) _Atomic(uint64_t) published;
  _Alignas(64) _Atomic(uint64_t) consumed;
  _Atomic(bool) waiting; /* the producer waits on `space` */
  sem_t space;
  _Atomic(uint32_t) n_dropped; /* since the last `dropped` event: told by the producer with its next
                                 event, or by the recorder if none comes */
  _Atomic(bool) ended;         /* its thread is gone: free it when empty */
  /* the registry's: */
  td_ring *next;
  uint64_t n_events;   /* the consumer's count of events taken, for the tape's numbering */
  uint64_t last_ticks; /* the consumer's: of the last event taken */
};

#ifdef __cplusplus
#undef _Atomic
#undef _Alignas
#else

/* td_ring_new maps a ring of n_bytes, a power of two and a multiple of the page, of a thread that
 * the caller sets. Its first n_ready bytes are faulted in, and the others as the thread gets there.
 * NULL without memory. */
td_ring *td_ring_new(size_t n_bytes, size_t n_ready);
void td_ring_free(td_ring *ring);

/* td_ring_peek points at the readable bytes and returns how many. Consumer. The pointer is valid
 * until td_ring_consume gives them back. */
size_t td_ring_peek(td_ring *ring, const unsigned char **bytes);
void td_ring_consume(td_ring *ring, size_t n_bytes);
#endif
