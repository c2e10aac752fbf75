/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Somebody may watch what the calling thread is about to write in place, while the old elements are
 * still there. */
#pragma once

#include "engine/base/status.h"
#include "engine/torch/tensor/tensor.h"

/* td_write_watch_set sets the calling thread's function, NULL for none. The function gets a tensor
 * (borrowed) that may be written into. If it fails, so does the write. It may make operations. */
typedef td_status (*td_write_watch)(const td_tensor *tensor, td_error *error);
void td_write_watch_set(td_write_watch watch);

/* td_write_watch_call calls the calling thread's function, if there is one. */
td_status td_write_watch_call(const td_tensor *tensor, td_error *error);
