/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The last part of an evaluation: the gradients go to the nodes below. Private to
 * engine/torch/pass. */
#pragma once

#include "engine/torch/pass/evaluation.h"

/* td_evaluation_scatter moves the outputs into the input buffers of the nodes below.
 * A node enters its ready queue when its last gradient has come. TD_AUTOGRAD, TD_SHAPE. */
td_status td_evaluation_scatter(td_evaluation *self, td_error *error);
