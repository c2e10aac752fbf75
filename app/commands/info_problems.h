/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck info` says of problems: where each was, in which step, and what led to it. Main
 * thread. */
#pragma once

#include "engine/base/json.h"
#include "engine/replay/catalog.h"

/* td_info_print_problems prints the first anomalies and the first other problems for people. The
 * catalog is that of the tape or of its outline. */
void td_info_print_problems(td_tape *tape, const td_catalog *catalog);

/* td_info_problems_json writes two arrays of up to 100 objects each.
 *
 * "anomalies" has seq, kind, born, graph_task, step, node, name, label, module, line, cause. The
 * cause is the event number of an earlier anomaly that may have led to it, or null.
 *
 * "problems" has all that went wrong, anomalies too: seq, event, text, graph_task, step, node,
 * name, label, module, line, cause, cause_text. */
void td_info_problems_json(td_json *json, td_tape *tape, const td_catalog *catalog);
