/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck info` says of times and anomalies, for people and as members of its JSON. Main
 * thread. */
#pragma once

#include "engine/base/json.h"
#include "engine/profile/summary.h"

/* td_info_is_outline tells whether a catalog is of an outline. Then the slowest nodes and modules
 * are not known, which both forms say. */
bool td_info_is_outline(const td_catalog *catalog);

/* For people: the slowest nodes and modules, and the anomalies, a few of each. */
void td_info_print_slowest(const td_catalog *catalog, const td_summary *summary);
void td_info_print_anomalies(td_tape *tape, const td_catalog *catalog);

/* td_info_summary_json writes three arrays of up to 100 objects each, or null for what is not
 * known.
 *
 * "slowest_nodes" has the members node, name, label, module, line, ns.
 *
 * "slowest_modules" has module, class, nodes (how many), ns.
 *
 * "anomalies" has seq, kind, born, node, name, module, line, cause. The cause is the event number
 * of an earlier anomaly that may have led to it, or null. */
void td_info_summary_json(td_json *json, td_tape *tape, const td_catalog *catalog,
                          const td_summary *summary);
