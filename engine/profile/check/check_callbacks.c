/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/check_callbacks.h"

#include "engine/base/alloc.h"

void
td_check_callbacks_add(td_check_callbacks *callbacks, uint32_t owner) {
  TD_GROW(callbacks->owners, callbacks->n_queued, callbacks->capacity);
  callbacks->owners[callbacks->n_queued++] = owner;
}

void
td_check_callbacks_fini(td_check_callbacks *callbacks) {
  free(callbacks->owners);
  *callbacks = (td_check_callbacks){0};
}
