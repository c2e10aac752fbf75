/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/pending.h"

static _Thread_local struct {
  td_status status;
  td_error error;
} pending;

bool
td_pending(void) {
  return pending.status != TD_OK;
}

void
td_pending_set(td_status status, td_error *error) {
  if (pending.status != TD_OK) {
    td_error_clear(error);
    return;
  }
  pending.status = status;
  pending.error = *error;
  *error = (td_error){0};
}

td_status
td_pending_take(td_error *error) {
  td_status status = pending.status;
  if (status == TD_OK) return TD_OK;
  pending.status = TD_OK;
  td_error taken = pending.error;
  pending.error = (td_error){0};
  if (error)
    *error = taken;
  else
    td_error_clear(&taken);
  return status;
}
