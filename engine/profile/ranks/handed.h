/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* An operation that a process handed to a group. The texts are of the caller, who keeps them as
 * long as what has taken them. */
typedef struct td_handed {
  const char *operation, *dtype, *stack; /* "" for none */
  uint64_t elements, time, seq;
  uint32_t number, tensors, node;
  int32_t peer;
} td_handed;
