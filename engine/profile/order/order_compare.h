/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pass that is over beside its prediction. Private to engine/profile. One thread. */
#pragma once

#include "engine/profile/order/order_log.h"
#include "engine/profile/order/order_pass.h"

/* What explaining may cost, and what the tape cannot tell. */
typedef struct td_order_eyes {
  uint64_t steps_left; /* that may be looked at */
  const char *blind;   /* as in td_order_question */
} td_order_eyes;

/* td_order_compare fills in a pass whose graph_task and status are set. Without eyes, a divergence
 * has no cause. */
void td_order_compare(const td_logged_pass *logged, const td_order_log *log,
                      const td_catalog *catalog, td_order_eyes *eyes, td_order_pass *pass);
void td_order_divergence_fini(td_order_divergence *divergence);
