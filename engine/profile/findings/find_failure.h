/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The exception that a program ended by, if it is about gradients: failure_advice.def. What a node
 * raised is a finding of its own. Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/profile/findings/finding.h"

typedef struct td_find_failure {
  td_event_program_failed event; /* the last one */
  uint64_t seq;
  bool is_there;
  uint32_t error; /* string: of the last node that failed, or 0 */
} td_find_failure;

void td_find_failure_take(td_find_failure *self, const td_event_program_failed *event,
                          uint64_t seq);
void td_find_failure_note_error(td_find_failure *self, const td_event_error *event);

/* td_find_failure_tell adds it. `source` is the text of the line that raised it, "" if it is not
 * known. */
void td_find_failure_tell(const td_find_failure *self, td_tape *tape, const char *source,
                          td_findings *findings);
