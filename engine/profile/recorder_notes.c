/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/recorder_notes.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"

static const char *const notes[] = {
    [TD_recorder_work_cuts] =
        TD_N("To slow the program down less, the recorder stopped looking for what cuts "
             "parameters off the loss."),
    [TD_recorder_work_modules] =
        TD_N("To slow the program down less, the recorder stopped noting the modules of "
             "nodes: later nodes have none."),
    [TD_recorder_work_leaves] =
        TD_N("To slow the program down less, the recorder stopped looking for names of "
             "leaves: later ones may have none."),
    [TD_recorder_work_collectives] =
        TD_N("To slow the program down less, the recorder stopped noting the lines of "
             "collective operations: later ones have none."),
};

const char *
td_recorder_notes_next(uint32_t stopped, uint32_t *work) {
  for (; *work < TD_N_ELEMENTS(notes); ++*work)
    if (stopped >> *work & 1 && notes[*work]) return notes[(*work)++];
  return NULL;
}
