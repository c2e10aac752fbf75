/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pass models of a tape, one after another. The thread that owns the tape. */
#pragma once

#include "engine/profile/model/pass_model.h"

/* Called with a model and a catalog that are valid for the call. What it returns ends the walk
 * unless it is TD_OK. */
typedef td_status (*td_model_visitor)(const td_pass_model *model, const td_catalog *catalog,
                                      void *data);

/* td_model_warms_up tells whether a model is the tape's first pass: much happens in that pass for
 * the first time. A pass that others overlap cannot be left out alone. */
bool td_model_warms_up(const td_pass_model *model, const td_catalog *catalog);

/* td_model_visit calls a function for all models of a tape, and writes how many passes were left
 * out. TD_UNSUPPORTED if the recording did not observe what entered and left its queues; else as
 * td_catalog_visit. */
td_status td_model_visit(td_tape *tape, td_model_visitor visit, void *data, uint32_t *n_left_out,
                         td_error *error);
