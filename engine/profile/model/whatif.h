/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What passes would have taken under other schedules: virtual_run.h for all passes of a tape. The
 * recorded schedule is replayed first, and tells how far such numbers can be trusted. */
#pragma once

#include "engine/profile/model/virtual_run.h"

/* If the replay is further off than this share, its answers are worth nothing. */
#define TD_WHATIF_TRUSTED_ERROR 0.05

/* For skip_first: the tape's first pass, if another one ended well. */
#define TD_WHATIF_SKIP_WARMING TD_NONE

typedef struct td_whatif {
  uint32_t n_passes, n_left_out;
  uint32_t n_skipped;            /* passes that ended well, before those that count */
  uint64_t recorded;             /* ns of the passes */
  td_virtual_result replayed;    /* the engine's schedule, and the devices of the tape */
  uint32_t n_devices;            /* of the tape */
  bool has_bytes;                /* else no memory_peak is known */
  uint64_t held[TD_N_FREEABLES]; /* ns: of locks of passes, and of the GIL while threads waited */
  bool locks_known, gil_known;   /* whether waits for them are on the tape */
  bool has_hooks;
} td_whatif;

/* td_whatif_make writes [n_plans] results. It reads the tape once. The first `skip_first` passes
 * that ended well do not count, nor passes that overlap them: they are not what the others are. It
 * fails with TD_UNSUPPORTED if the tape has no pops that were observed, or if a plan takes waits
 * away that the tape does not tell of. It fails with TD_OUT_OF_RANGE if no pass is left, or if a
 * change names what no task is; else as td_catalog_visit. */
td_status td_whatif_make(td_tape *tape, const td_virtual_plan *plans, uint32_t n_plans,
                         uint32_t skip_first, td_whatif *whatif, td_virtual_result *results,
                         td_error *error);

/* td_whatif_error returns how far the replayed time is off the recorded one, as a share of it. */
double td_whatif_error(const td_whatif *whatif);
