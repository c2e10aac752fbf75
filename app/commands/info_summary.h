/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck info` says of times, for people and as members of its JSON. Main thread. */
#pragma once

#include "engine/base/json.h"
#include "engine/profile/summary.h"

/* td_info_is_outline tells whether a catalog is of an outline. Then the slowest nodes and modules
 * are not known, which both forms say. */
bool td_info_is_outline(const td_catalog *catalog);

/* td_info_print_slowest prints the slowest nodes and modules for people, a few of each. */
void td_info_print_slowest(const td_catalog *catalog, const td_summary *summary);

/* td_info_summary_json writes two arrays of up to 100 objects each, or null for what is not known.
 *
 * "slowest_nodes" has the members node, name, label, module, line, ns.
 *
 * "slowest_modules" has module, class, nodes (how many), ns. */
void td_info_summary_json(td_json *json, const td_catalog *catalog, const td_summary *summary);

/* td_info_node_json writes what a node is: the members node, name, label, module, line. */
void td_info_node_json(td_json *json, const td_catalog *catalog, uint32_t node);
