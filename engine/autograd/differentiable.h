/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The two operations that the engine itself performs on gradients under create_graph. They must
 * leave history, so they are operations like any other, and operations lie above the engine:
 * engine/ops hands them down while loading. Without it (a test of the engine alone) gradients have
 * no history. */
#pragma once

#include "engine/tensor/tensor.h"

typedef struct td_differentiable {
  td_status (*add)(td_tensor *a, td_tensor *b, td_tensor **out, td_error *error);
  td_status (*clone)(td_tensor *tensor, td_tensor **out, td_error *error);
} td_differentiable;

/* td_differentiable_set is for engine/ops alone, before any pass; td_differentiable_get is never
 * NULL. */
void td_differentiable_set(td_differentiable operations);
const td_differentiable *td_differentiable_get(void);
