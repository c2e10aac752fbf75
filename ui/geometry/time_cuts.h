/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spans of time that an axis leaves out. A moment has a place on the axis: its time without what is
 * cut out before it. Pure; any thread. */
#pragma once

#include <stddef.h>

typedef struct td_time_cut {
  double begin_ns, end_ns;
  double place_ns; /* on the axis */
} td_time_cut;

typedef struct td_time_cuts {
  td_time_cut *cuts; /* (owned) in the order of time, apart from each other */
  size_t n, capacity;
} td_time_cuts;

/* td_time_cuts_add leaves out a span. What lies before the end of the last one stays on the axis as
 * it is. */
void td_time_cuts_add(td_time_cuts *self, double begin_ns, double end_ns);
void td_time_cuts_fini(td_time_cuts *self);

/* td_time_cuts_place returns where a moment is on the axis. All of a cut has one place.
 * td_time_cuts_time returns the moment at a place; of a cut, its end. NULL stands for no cuts. */
double td_time_cuts_place(const td_time_cuts *self, double ns);
double td_time_cuts_time(const td_time_cuts *self, double place_ns);

/* td_time_cuts_next returns the first cut that ends after a moment, or NULL. */
const td_time_cut *td_time_cuts_next(const td_time_cuts *self, double ns);
