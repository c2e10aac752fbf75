/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Engine invariants on a tape: what must be true of any engine that does what PyTorch's does. */
#pragma once

#include "engine/trace/tape.h"

/* A violation: which rule, at which event, in words. Borrowed for the call. */
typedef struct td_violation {
  const char *rule; /* "pop-order", "push-once", ... */
  uint64_t seq;
  const char *text;
} td_violation;

typedef void (*td_check_report)(const td_violation *violation, void *data);

/* A rule that cannot be judged on this tape, and why: "queue_pop is reconstructed". Borrowed. */
typedef void (*td_check_unjudged)(const char *rule, const char *reason, void *data);

/* td_check_find_unjudged tells each rule for which the tape has not what it takes: kinds of events
 * that are absent or were reconstructed. Returns how many. */
uint32_t td_check_find_unjudged(const td_tape_info *info, td_check_unjudged tell, void *data);

/* td_check_run holds every event of the tape to the rules that can be judged, reports each
 * violation and counts them. */
td_status td_check_run(td_tape *tape, td_check_report report, void *data, uint64_t *n_violations,
                       td_error *error);
