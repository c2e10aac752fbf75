/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ranks of a recording that have ended while others go on. Their tapes are beside the others' until
 * the recording ends. Main thread. */
#pragma once

#include <glib.h>

/* td_attach_ended_ranks_add adds to a list of td_attach_rank those that have ended. It finds their
 * tapes beside those of some td_attach_process. A rank that another process has now is not added.
 */
void td_attach_ended_ranks_add(GPtrArray *ranks, const GPtrArray *processes);
