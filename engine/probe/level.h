/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * At which level a process is recorded, and by which observer: an observer of the engine itself, or
 * PyTorch's public hooks. No lock of its own. */
#pragma once

#include "engine/probe/orders.h"
#include "engine/probe/probe.h"

typedef struct td_level {
  const td_observer *observer; /* loaded and attached, or NULL */
  char *reason;                /* (owned) why this level */
  int number;                  /* 1 or 2 */
} td_level;

/* td_level_choose loads the observer that is wanted and lets it attach. It loads only what nobody
 * else can write. If that fails it says so, and there is no observer. At level 2 the scripts of
 * td_probe_start_scripts still have to run. */
void td_level_choose(td_level *self, const td_orders *orders);
