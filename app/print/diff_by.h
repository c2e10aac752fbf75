/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck diff --by` as text or JSON on standard output. This is the JSON document.
 *
 *     {"unit": "ns", "by": "op", "passes": {"a": n, "b": n}, "rows": [{"key": "MulBackward0",
 *      "a": {"passes": n, "calls": n, "p25": n, "median": n, "p75": n} or null, "b": the same,
 *      "ratio": 1.02 or null, "reason": null, or why there is no ratio}...]}
 *
 * Main thread. */
#pragma once

#include "engine/profile/diff/diff_by.h"

void td_diff_by_print_text(td_tape *a, td_tape *b, const td_diff_by *diff, td_report_by by);
void td_diff_by_print_json(const td_diff_by *diff, td_report_by by);
