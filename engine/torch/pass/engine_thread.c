/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/engine_thread.h"

_Thread_local td_engine_thread td_thread_self = {.device = TD_NO_DEVICE};

bool
td_checkpoint_is_valid(void) {
  return td_thread_self.n_selective == 0;
}
