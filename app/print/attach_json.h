/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck attach --json` prints: resources/schemas/attach.json. Main thread. */
#pragma once

#include "app/session/attach/ranks.h"

/* td_attach_json_print prints one document about some td_attach_process. */
void td_attach_json_print(const GPtrArray *processes, const td_attach_ranks *ranks);
