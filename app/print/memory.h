/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck report --memory` prints, on standard output. In JSON, a level is the members
 * "bytes" (the sum), "saved", "kept", "buffers" and "gradients", in bytes. Of the last four, null
 * is unknown. The document has:
 *
 * - "unknown": the reason, by member of a level.
 * - "release": how the tape knows when nodes let saved tensors go.
 * - "peak": "seq", "t", the "graph_task" under way, a level, and "holders". It is null if nothing
 *   was held.
 * - "retained": the same for the end of the pass that left most saved tensors. It is null if none
 *   was left.
 * - "steps": "by" step or pass, "n", "growth" in bytes by member, "rows". A row has "step", "seq",
 *   "t", the "peak" since the row before, and the level at its end. It stands for "per_row" steps.
 * - "samples": its "rows" have the highest level of each "interval" ns from "t" on.
 *
 * A holder has "kind", "bytes", "since" (an event), "node", "number" (of its saved tensor or
 * result), "name", "module", "line", "shape" and "dtype". Its "sharing" says how many others have
 * its storage. */
#pragma once

#include "engine/profile/report/memory.h"

void td_memory_print_json(const td_memory *memory);
void td_memory_print_text(const char *path, const td_memory *memory);
