/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Predictions]
 *
 * A prediction is a tape of what passes would have done under a plan of virtual_run.h. It has the
 * nodes that ran, with their numbers, and the passes in virtual time. So everything that reads a
 * tape can show it beside the one that it is made from.
 *
 * Nobody saw a prediction happen: what happens in its passes is "reconstructed". Its setting
 * TD_PREDICTION_SETTING tells the plan. Forward passes, values, hooks, locks and inner passes are
 * not on it. What took time between two passes takes the same time again. */
#pragma once

#include "engine/profile/model/virtual_run.h"

#define TD_PREDICTION_SETTING "what-if"

/* td_prediction_write reads the tape once, and writes the prediction to `path`. The thread that
 * owns the tape. It fails as td_whatif_make does, with TD_OUT_OF_MEMORY, or with TD_IO. A file that
 * it could not finish is left behind. */
td_status td_prediction_write(td_tape *tape, const td_virtual_plan *plan, const char *path,
                              bool overwrite, td_error *error);
