/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/ring.h"

#include <string.h>
#include <sys/mman.h>

/* Maps n_bytes of shared memory at two neighbouring places. Growing a mapping from size 0
 * duplicates it (mremap(2)), which needs no file and so does not fall under the limits on files. */
static unsigned char *
map_twice(size_t n_bytes, size_t n_ready) {
  unsigned char *bytes = mmap(NULL, 2 * n_bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED) return NULL;
  if (mremap(bytes, 0, n_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, bytes + n_bytes) != MAP_FAILED) {
    memset(bytes, 0, n_ready); /* faulted in now and not while recording */
    memset(bytes + n_bytes, 0, n_ready);
    return bytes;
  }
  munmap(bytes, 2 * n_bytes);
  return NULL;
}

td_ring *
td_ring_new(size_t n_bytes, size_t n_ready) {
  unsigned char *bytes = map_twice(n_bytes, n_ready);
  if (!bytes) return NULL;
  /* Not from malloc: the recorder frees rings, and it must not wait for malloc's locks. */
  td_ring *ring =
      mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (ring == MAP_FAILED) {
    munmap(bytes, 2 * n_bytes);
    return NULL;
  }
  ring->bytes = bytes;
  ring->mask = n_bytes - 1;
  ring->limit = n_bytes;
  sem_init(&ring->space, 0, 0);
  return ring;
}

void
td_ring_free(td_ring *ring) {
  munmap(ring->bytes, 2 * (ring->mask + 1));
  sem_destroy(&ring->space);
  munmap(ring, sizeof *ring);
}

size_t
td_ring_peek(td_ring *ring, const unsigned char **bytes) {
  uint64_t published = atomic_load_explicit(&ring->published, memory_order_acquire);
  uint64_t consumed = atomic_load_explicit(&ring->consumed, memory_order_relaxed);
  *bytes = ring->bytes + (consumed & ring->mask);
  return published - consumed;
}

void
td_ring_consume(td_ring *ring, size_t n_bytes) {
  atomic_fetch_add_explicit(&ring->consumed, n_bytes, memory_order_seq_cst);
  /* Pairs with wait_for_space in emit.c: either it sees the new `consumed`, or we see `waiting`. */
  if (atomic_exchange_explicit(&ring->waiting, false, memory_order_seq_cst)) sem_post(&ring->space);
}
