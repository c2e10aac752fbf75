/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits for a core: a thread could run, and another one had the core.
 *
 * Note [Waits for a core]
 * Problem: a thread that has no core looks like one that is at work. Nothing in the program tells
 * the two apart.
 *
 * Constraint: the kernel keeps an account for each thread, the second number of
 * /proc/self/task/TID/schedstat. Reading it costs as much as a small node.
 *
 * Trick: only a stretch of 100 us or more is worth a look, when it ends: a node's function, a hook,
 * a sleep on a queue. At its begin nothing is read: what a thread did since its last look is short,
 * but for this stretch. A thread that has waited for a core was switched out, and the kernel counts
 * that. So a look asks for these counts first, and reads the account only if they have changed.
 * Waits of less than 10 us are kept for the next look.
 *
 * The calling thread alone is looked at. Any thread, also with the lock of a queue. */
#pragma once

#include "engine/events/emit.h"

/* A stretch of so many ticks is long: 100 us at 2.5 GHz. */
#define TD_CORE_LONG_TICKS 250000u

/* td_core_tell says on the tape whether waits for cores are on it: a core_wait without any wait, or
 * that their kind is absent. Once in a recording, before all looks. */
void td_core_tell(void);

/* td_core_begin begins to count: what the thread waited before is on no tape. td_core_meet does so
 * if the thread has not begun in this recording. */
void td_core_begin(void);
void td_core_meet(void);

/* td_core_look emits core_wait if the thread has waited for a core since it began, or since the
 * last core_wait. */
void td_core_look(void);

/* td_core_look_since is td_core_look at the end of a stretch, if that was long. `begin`: in ticks;
 * it is read nowhere unless a recorder runs. */
static inline void
td_core_look_since(uint64_t begin) {
  if (td_recording() && TD_UNLIKELY(td_clock_now() - begin >= TD_CORE_LONG_TICKS)) td_core_look();
}
