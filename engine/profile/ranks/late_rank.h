/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rank of a tape that is late again and again. Read-only once it is made. */
#pragma once

#include "engine/profile/ranks/lateness.h"

typedef struct td_late_rank {
  td_lateness lateness;
  bool is_found;
  td_late late; /* if it is found */
  char *rank;   /* (owned) what the process is called, or NULL */
  char *text;   /* (owned) a sentence, or NULL */
} td_late_rank;

/* td_late_rank_make reads the tape. As td_catalog_visit. The caller calls td_late_rank_fini in all
 * cases. */
td_status td_late_rank_make(td_tape *tape, td_late_rank *late, td_error *error);
void td_late_rank_fini(td_late_rank *late);
