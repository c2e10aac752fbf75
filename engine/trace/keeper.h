/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Keeper: the flight recorder's other half. A recorder with the option `keep` appends to a tape
 * without end. The keeper follows that tape, in any process, and lets go of what is too old. In its
 * place the tape gets a keyframe: what lived at the cut. The file is a tape at every moment (the
 * note in keeper_file.h), and its room on the disk stays bounded.
 *
 * A keeper cuts where no backward pass is under way. Only a tape of twice the limit is cut
 * anywhere: then the passes under way begin in the middle. Later cuts do not wait for those, since
 * a pass may hang for ever. The last whole pass stays, unless it has twice the limit of bytes.
 *
 * A recorder may begin to keep in the middle of a recording: td_recorder_keep. What was recorded
 * before goes at the first cut, all of it, and that comes when the limit is there without it. A NaN
 * or an error in it is no news. One thread. */
#pragma once

#include "engine/base/status.h"
#include "engine/trace/keep_limit.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct td_keeper td_keeper;

typedef struct td_keeper_news {
  bool nan, error;                                     /* since the last time */
  bool in_pass;                                        /* a pass is under way, as far as was read */
  bool is_complete;                                    /* the recorder has ended the tape */
  uint64_t n_steps;                                    /* on the tape now */
  uint64_t n_keyframe_bytes;                           /* what lives takes so many */
  uint64_t n_steps_gone, n_passes_gone, n_events_gone; /* since the recording began */
} td_keeper_news;

/* td_keeper_open begins to follow a tape. TD_NOT_A_TAPE or TD_DAMAGED: its beginning may not be
 * written yet. TD_UNSUPPORTED: its recorder was not told to keep. TD_IO. */
td_status td_keeper_open(const char *path, const td_keep_limit *limit, td_keeper **keeper,
                         td_error *error);
void td_keeper_close(td_keeper *keeper);

/* td_keeper_set_limit changes what stays from the next cut on. */
void td_keeper_set_limit(td_keeper *keeper, const td_keep_limit *limit);

/* td_keeper_read reads what was added and sets *news. Nothing goes before td_keeper_cut, so there
 * is time to copy the tape. TD_DAMAGED, TD_IO, TD_OUT_OF_MEMORY: the tape cannot be followed. */
td_status td_keeper_read(td_keeper *keeper, td_keeper_news *news, td_error *error);

/* td_keeper_cut lets go of what is more than the limit. With is_last the recorder has ended: the
 * limit holds exactly after a few cuts; *is_done tells whether any is left. TD_IO: this cut was not
 * possible, the tape is as before, and a later cut may be. TD_DAMAGED, TD_OUT_OF_MEMORY. */
td_status td_keeper_cut(td_keeper *keeper, bool is_last, bool *is_done, td_error *error);

/* td_keeper_can_free returns 0 if files in that folder can give back room, or an errno. */
int td_keeper_can_free(const char *folder);
