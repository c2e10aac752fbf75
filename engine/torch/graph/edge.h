/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Edge: where a gradient goes next: an input of a node. */
#pragma once

#include <stdint.h>

typedef struct td_node td_node;

typedef struct td_edge {
  td_node *node; /* NULL: no gradient wanted */
  uint32_t input_nr;
} td_edge;
