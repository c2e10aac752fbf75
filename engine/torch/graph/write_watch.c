/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/write_watch.h"

#include <stddef.h>

static _Thread_local td_write_watch watch;

void
td_write_watch_set(td_write_watch wanted) {
  watch = wanted;
}

td_status
td_write_watch_call(const td_tensor *tensor, td_error *error) {
  return watch ? watch(tensor, error) : TD_OK;
}
