/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which rank the others wait for, by their tapes. It is said only if the tapes show it. Main
 * thread.
 */
#pragma once

#include "app/session/attach/rank.h"

typedef struct td_attach_ranks {
  GPtrArray *list; /* (owned) of td_attach_rank, by rank */
  char *sentence;  /* (owned) who is late and on what that rests, or NULL: nothing shows it */
} td_attach_ranks;

/* td_attach_ranks_compare compares the ranks among some td_attach_process, and those of the same
 * recording whose processes have ended. The caller frees the result. */
td_attach_ranks *td_attach_ranks_compare(const GPtrArray *processes);
void td_attach_ranks_free(td_attach_ranks *self);
