/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck diff` found, for people and as JSON. Main thread. */
#pragma once

#include "engine/profile/diff/diff.h"

typedef struct td_diff_report {
  td_tape *tape_a, *tape_b; /* (owned) */
  td_diff diff;             /* (owned) */
  bool without_durations;   /* in text */
} td_diff_report;

#define TD_DIFF_SHOWN 10 /* lines of one list in text */

/* td_diff_report_make opens and compares two tapes. After a failure it has printed why, and there
 * is nothing to end. td_diff_report_is_equal tells whether order and values are the same. */
bool td_diff_report_make(const char *path_a, const char *path_b, const td_diff_wish *wish,
                         td_diff_report *report);
bool td_diff_report_is_equal(const td_diff_report *report);
void td_diff_report_fini(td_diff_report *report);

/* td_diff_print_text writes a page for people. It cuts long lists and says so. */
void td_diff_print_text(const td_diff_report *report);

/* td_diff_print_json writes one whole document. Nodes, graph tasks and events are the tapes' own
 * numbers. Here NODE stands for
 *
 *     {"node": 6, "name": "MulBackward0", "label": null, "graph_task": 0}
 *
 * The document:
 *
 * - "a": {"path", "engine", "engine_version", "source", "graph_tasks": n, "nodes": n}
 * - "b": the same
 * - "equal_order": false
 * - "graph_tasks": {"paired": n, "equal": n, "only_a": [0], "only_b": []}
 * - "nodes": {"paired": n, "only_a": [NODE...], "only_b": [NODE...], "moved": n, "reshaped": n}
 * - "divergence": null, or {"device": "cpu", "position": 3, "cause": "tie", "text": "...",
 *   "a": null or {NODE's members, "event": 57, "ready": [6, 4], "why": "..."}, "b": the same}
 * - "names": [{"a": "SumBackward0", "b": "SumBackward1", "count": 1}...]
 * - "values": {"tolerance": 1e-06, "compared": n, "different": [{"a": NODE, "b": NODE,
 *   "field": "mean", "place": "output", "number": 0, "value_a": 1.5, "value_b": null,
 *   "event_a": 90, "event_b": 91}...]}
 * - "durations": {"a_ns": n, "b_ns": n, "ratio": 1.2, "most": [{"a": NODE, "b": NODE,
 *   "a_ns": n, "b_ns": n, "ratio": 2.0}...]}
 *
 * `ratio` is B's time divided by A's, or null if A's is 0. For an anomaly, "field" is "anomaly" and
 * "place" is its birthplace; value_a and value_b are "nan", "inf" or null. `most` has up to 100
 * nodes. */
void td_diff_print_json(const td_diff_report *report);
