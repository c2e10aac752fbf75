/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/ordering.h"

#include "engine/base/alloc.h"

#include <string.h>

static void
make_room(td_ordering *ordering, uint32_t n) {
  if (n <= ordering->n) return;
  ordering->counts = td_realloc(ordering->counts, n, sizeof *ordering->counts);
  memset(ordering->counts + ordering->n, 0, (n - ordering->n) * sizeof *ordering->counts);
  ordering->n = n;
}

void
td_ordering_fini(td_ordering *ordering) {
  free(ordering->counts);
  *ordering = (td_ordering){0};
}

uint64_t
td_ordering_tick(td_ordering *ordering, uint32_t stream) {
  make_room(ordering, stream + 1);
  return ++ordering->counts[stream];
}

void
td_ordering_join(td_ordering *ordering, const td_ordering *other) {
  make_room(ordering, other->n);
  for (uint32_t i = 0; i < other->n; i++)
    ordering->counts[i] = TD_MAX(ordering->counts[i], other->counts[i]);
}

bool
td_ordering_has(const td_ordering *ordering, uint32_t stream, uint64_t kernel) {
  return stream < ordering->n && ordering->counts[stream] >= kernel;
}
