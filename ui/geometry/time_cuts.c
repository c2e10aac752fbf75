/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/time_cuts.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

#include <stdbool.h>
#include <stdlib.h>

void
td_time_cuts_add(td_time_cuts *self, double begin_ns, double end_ns) {
  if (self->n) begin_ns = TD_MAX(begin_ns, self->cuts[self->n - 1].end_ns);
  if (begin_ns >= end_ns) return;
  td_time_cut cut = {begin_ns, end_ns, td_time_cuts_place(self, begin_ns)};
  TD_GROW(self->cuts, self->n, self->capacity);
  self->cuts[self->n++] = cut;
}

void
td_time_cuts_fini(td_time_cuts *self) {
  free(self->cuts);
  *self = (td_time_cuts){0};
}

/* The number of cuts that begin at or before a time, or a place. */
static size_t
count_before(const td_time_cuts *self, double ns, bool is_place) {
  size_t at;
  if (!self) return 0;
  TD_BISECT(at, 0, self->n, (is_place ? self->cuts[at].place_ns : self->cuts[at].begin_ns) <= ns);
  return at;
}

double
td_time_cuts_place(const td_time_cuts *self, double ns) {
  size_t n = count_before(self, ns, false);
  if (!n) return ns;
  const td_time_cut *cut = &self->cuts[n - 1];
  return cut->place_ns + TD_MAX(ns - cut->end_ns, 0);
}

double
td_time_cuts_time(const td_time_cuts *self, double place_ns) {
  size_t n = count_before(self, place_ns, true);
  if (!n) return place_ns;
  const td_time_cut *cut = &self->cuts[n - 1];
  return cut->end_ns + (place_ns - cut->place_ns);
}

const td_time_cut *
td_time_cuts_next(const td_time_cuts *self, double ns) {
  size_t n = count_before(self, ns, false);
  if (n && self->cuts[n - 1].end_ns > ns) return &self->cuts[n - 1];
  return self && n < self->n ? &self->cuts[n] : NULL;
}
