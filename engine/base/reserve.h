/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory put aside. Our allocations abort if memory runs out. Inside somebody else's program that
 * would end the program. There, the first failure frees the reserve, and the allocation is tried
 * again. Whoever keeps a reserve must stop what needs memory. Any thread. */
#pragma once

/* td_reserve_keep puts memory aside; the second call does nothing. td_reserve_spend calls
 * `ran_out`, from any thread, which may hold any lock. So ran_out only stores atomics and writes to
 * a descriptor. */
void td_reserve_keep(void (*ran_out)(void));

/* td_reserve_spend frees the reserve: an allocation has failed, and its caller tries again. Does
 * nothing if no reserve is left. */
void td_reserve_spend(void);
