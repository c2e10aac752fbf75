/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/reserve.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/* What a recording needs until its end: an encoder's buffer, a ring, and a lot of small blocks. Of
 * pages that nobody has touched, the system keeps the promise only. */
#define RESERVE_BYTES ((size_t)8 << 20)

static _Atomic(void *) reserve;
static void (*_Atomic ran_out_cb)(void);

void
td_reserve_keep(void (*ran_out)(void)) {
  static _Atomic bool is_kept;
  if (atomic_exchange_explicit(&is_kept, true, memory_order_relaxed)) return;
  void *pages =
      mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  atomic_store_explicit(&ran_out_cb, ran_out, memory_order_relaxed);
  if (pages != MAP_FAILED) atomic_store_explicit(&reserve, pages, memory_order_release);
}

void
td_reserve_spend(void) {
  void (*ran_out)(void) = atomic_exchange_explicit(&ran_out_cb, NULL, memory_order_acq_rel);
  void *pages = atomic_exchange_explicit(&reserve, NULL, memory_order_acq_rel);
  if (pages) munmap(pages, RESERVE_BYTES);
  if (ran_out) ran_out();
}
