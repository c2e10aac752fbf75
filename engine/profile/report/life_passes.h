/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Outermost passes, and when threads are at work for them. Zero-initialise. One thread. */
#pragma once

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/replay/catalog.h"

/* An outermost pass. One that never ended lasts until the last event.
 *
 * Note [Shares of the wall]
 * Problem: several threads are at work for one pass at the same time, so the sum of their times is
 * longer than the pass. Trick: so many threads share each moment of the pass. `turn_ns` is how much
 * of the pass one thread had that was at work all the time: each moment divided by the number of
 * threads. The shares of all threads and the time in which none was at work are then the pass. */
typedef struct td_life_pass {
  uint32_t graph_task;
  bool has_ended;
  uint64_t begin_ns, end_ns;
  uint64_t busy_ns; /* in which some thread was at work for some node of it */
  uint32_t n_busy;  /* threads */
  uint64_t busy_since;
  double turn_ns; /* up to turn_until: Note [Shares of the wall] */
  uint64_t turn_until;
  uint64_t recorder_ns; /* of the recorder's, in which no thread was at work for a node */
  uint64_t
      idle_since; /* no thread has been at work since; what the recorder took before is counted */
} td_life_pass;

typedef struct td_life_passes {
  td_life_pass *items; /* (owned) in the order of the tape */
  uint32_t n, capacity, n_under_way;
  td_number_map numbers;     /* by graph task, also of nested ones: 1 + the outermost pass */
  uint32_t found_for, found; /* the last search: graph task, 1 + the outermost pass; or 0 */
} td_life_passes;

/* td_life_passes_begin notes an outermost pass that begins, td_life_passes_nest one inside a graph
 * task. If nothing is known of that, the inner pass counts as an outermost one. td_life_passes_end
 * does nothing for a nested one. */
void td_life_passes_begin(td_life_passes *passes, uint32_t graph_task, uint64_t now);
void td_life_passes_nest(td_life_passes *passes, uint32_t graph_task, uint32_t outer, uint64_t now);
void td_life_passes_end(td_life_passes *passes, uint32_t graph_task, uint64_t now);

/* td_life_passes_find returns the outermost pass around a graph task, or TD_NONE. */
uint32_t td_life_passes_find(td_life_passes *passes, uint32_t graph_task);

/* td_life_passes_work says that one thread more is at work for a pass, td_life_passes_rest that one
 * is not any more. */
void td_life_passes_work(td_life_passes *passes, uint32_t pass, uint64_t now);
void td_life_passes_rest(td_life_passes *passes, uint32_t pass, uint64_t now);

/* td_life_passes_record says that the recorder was at work from `begin` until now, on a thread that
 * is at work for no node. It counts for the one pass that is under way. Whose it would be among
 * several is not known. */
void td_life_passes_record(td_life_passes *passes, uint64_t begin, uint64_t now);

/* td_life_passes_turn returns turn_ns of a pass now. It stands still when the pass has ended. */
static inline double
td_life_passes_turn(td_life_passes *passes, uint32_t number, uint64_t now) {
  td_life_pass *pass = &passes->items[number];
  uint64_t end = pass->has_ended ? TD_MIN(now, pass->end_ns) : now;
  if (end <= pass->turn_until) return pass->turn_ns;
  double ns = (double)(end - pass->turn_until);
  if (pass->n_busy) pass->turn_ns += pass->n_busy == 1 ? ns : ns / pass->n_busy;
  pass->turn_until = end;
  return pass->turn_ns;
}
void td_life_passes_fini(td_life_passes *passes);
