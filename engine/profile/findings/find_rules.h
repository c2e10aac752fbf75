/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rules of the engine that a tape breaks, and pops that nobody could foresee. Private to
 * engine/profile/findings. The thread that owns the tape. */
#pragma once

#include "engine/profile/findings/finding.h"
#include "engine/trace/tape.h"

/* td_find_rules adds a finding for each broken rule of check.h. td_find_surprises adds one for each
 * cause why passes left their predicted order, if timing does not explain it. Each reads the tape
 * once, or adds nothing if its kind is not judged. If the passes cannot be predicted after all,
 * td_find_surprises says so in findings->unjudged. */
td_status td_find_rules(td_tape *tape, td_findings *findings, td_error *error);
td_status td_find_surprises(td_tape *tape, td_findings *findings, td_error *error);
