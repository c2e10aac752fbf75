/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes models of passes from the events of a tape. One thread. */
#pragma once

#include "engine/profile/model/pass_model.h"

typedef struct td_modeller td_modeller;

/* td_modeller_apply takes the next event of the tape. The catalog knows what the event names. When
 * no pass is under way any more, the listener gets the model of the passes since the last time.
 * td_modeller_end says that the tape is over, and returns how many passes were left out. */
td_modeller *td_modeller_new(td_model_listener listen, void *data);
void td_modeller_apply(td_modeller *self, const td_catalog *catalog, const td_any_event *event);
uint32_t td_modeller_end(td_modeller *self);
void td_modeller_free(td_modeller *self);
