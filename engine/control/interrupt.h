/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ctrl+C in a program that waits at its gate: the waiting ends, and the program's own handler does
 * what it always did. Private to engine/control. */
#pragma once

#include "engine/control/link.h"

/* td_interrupt_watch puts a handler for SIGINT in front of the program's, if that has one, which
 * wakes the link's listener. td_interrupt_unwatch takes it away, unless the program has set another
 * since; harmless without watch. One watch at a time. */
void td_interrupt_watch(td_link *link);
void td_interrupt_unwatch(void);
