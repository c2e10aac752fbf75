/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Findings: what is wrong, or likely to be, with the program of a tape. Each is one sentence, the
 * event that shows it, and the line of the program. What happened many times is one finding.
 *
 * Note [What counts as a finding]
 * - Problems that events tell: NaN and Inf, errors, conflicts, warnings. Those of the same
 * function, line and text are one.
 * - no_gradient: after the first step of an optimizer, a parameter that requires a gradient had
 * none.
 * - graphs_kept: the nodes of three passes or more were not freed two passes later. Those made
 *   before the first pass ended are not looked at: programs keep what they made at first.
 * - hooks_grow: one function was called as a hook more and more often in four passes on end.
 * - order_differs: a node got the same gradients as in the pass before, in another order. Nodes are
 *   the same if they are the same leaf, or were made in the same place since the last pass ended.
 * - deep_reentry: backward calls lay half as deep inside one another as the engine's limit.
 *
 * The thread that owns the tape. */
#pragma once

#include "engine/profile/findings/finding.h"
#include "engine/trace/tape.h"

/* td_findings_make reads the tape once. As td_catalog_visit. The caller calls td_findings_fini in
 * all cases. */
td_status td_findings_make(td_tape *tape, td_findings *findings, td_error *error);
