/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gradient of an engine that is only watched: what the observer passes, and what the probe found
 * in it. Read by C and C++. */
#pragma once

#include "engine/base/numbers.h"

#include <stdint.h>

/* Why nobody can read a gradient's memory as it lies there. */
#define TD_UNREAD_SUBCLASS "it is of a subclass of Tensor, or a wrapper"
#define TD_UNREAD_LAYOUT "it is sparse, or of another layout"
#define TD_UNREAD_DEVICE "it is not in the CPU's memory"
#define TD_UNREAD_NO_MEMORY "it has no memory of its own"
#define TD_UNREAD_TYPE "its type of number is not known"
#define TD_UNREAD_SHORT "its memory is shorter than it"
#define TD_UNREAD_OVERLAP "its elements may lie on each other"
#define TD_UNREAD_REFUSES "it does not let itself be read"

/* A gradient as an observer sees it. */
typedef struct td_gradient {
  const void *identity; /* its address; NULL: undefined */
  uint32_t version;     /* changes with each write in place */
  td_numbers numbers;
  const char *unread; /* one of the above; NULL: it can be read */
} td_gradient;

/* Where an output goes. */
typedef struct td_gradient_edge {
  uint32_t node, input_nr; /* node TD_NONE: nowhere */
  td_number_type type; /* that the engine casts it to; TD_N_NUMBER_TYPES: unknown, or as it is */
  uint64_t n;          /* elements that the engine sums it to; 0: unknown */
} td_gradient_edge;

/* What the probe last found in a gradient of a node. */
typedef struct td_numerics_seen {
  const void *identity, *data;
  uint64_t n; /* elements at data */
  uint32_t version;
  td_number_type type;
  unsigned found;                       /* bits of td_numbers_look */
  struct td_contribution *contribution; /* (borrowed) of an output, on its way to a sum */
} td_numerics_seen;
