/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gradient of an engine that is only watched: what the observer passes, and what the probe found
 * in it. Read by C and C++. */
#pragma once

#include "engine/base/numbers.h"

#include <stdint.h>

/* A gradient as an observer sees it. */
typedef struct td_gradient {
  const void *identity; /* its address; NULL: undefined */
  uint32_t version;     /* changes with each write in place */
  td_numbers numbers;
  const char *unread; /* why nobody can read it, a literal; NULL: it can be read */
} td_gradient;

/* Where an output goes. */
typedef struct td_gradient_edge {
  uint32_t node, input_nr; /* node TD_NONE: nowhere */
} td_gradient_edge;

/* What the probe last found in a gradient of a node. */
typedef struct td_numerics_seen {
  const void *identity, *data;
  uint64_t n; /* elements at data */
  uint32_t version;
  unsigned found;                       /* bits of td_numbers_look */
  struct td_contribution *contribution; /* (borrowed) of an output, on its way to a sum */
} td_numerics_seen;
