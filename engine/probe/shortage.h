/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shortage of memory in a recorded program: the recording ends, and the program goes on. Our small
 * allocations live on engine/base/reserve.h from then on, so few of them may come. */
#pragma once

#include <stdbool.h>

/* td_shortage_watch keeps a reserve. Called before anything is allocated. */
void td_shortage_watch(void);

/* td_shortage_came returns true if memory has run out: no recording may begin or go on. */
bool td_shortage_came(void);

/* td_shortage_settle ends what began to record after memory ran out; without a shortage it does
 * nothing. The caller holds the probe's mutex. */
void td_shortage_settle(void);
