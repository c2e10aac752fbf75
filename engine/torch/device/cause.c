/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/cause.h"

#include "engine/events/event.h"

static _Thread_local uint32_t now = TD_NONE;

uint32_t
td_cause_set(uint32_t node) {
  uint32_t earlier = now;
  now = node;
  return earlier;
}

uint32_t
td_cause_now(void) {
  return now;
}
