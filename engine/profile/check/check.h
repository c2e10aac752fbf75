/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The invariants of PyTorch's engine, checked on a tape. Every engine that does the same keeps
 * them. */
#pragma once

#include "engine/profile/check/violation.h"
#include "engine/trace/tape.h"

/* A rule that cannot be judged on this tape, and why: "queue_pop is reconstructed". Borrowed. */
typedef void (*td_check_unjudged)(const char *rule, const char *reason, void *data);

/* td_check_find_unjudged reports each rule that needs a kind of event which this tape lacks or
 * which was reconstructed. It returns the number of such rules. */
uint32_t td_check_find_unjudged(const td_tape_info *info, td_check_unjudged tell, void *data);

/* td_check_run checks every event of the tape against the rules that can be judged. It reports each
 * violation and counts them. */
td_status td_check_run(td_tape *tape, td_check_report report, void *data, uint64_t *n_violations,
                       td_error *error);
