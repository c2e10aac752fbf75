/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of what does not change with time: the tape, threads, queues, nodes, edges, passes. The
 * thread that owns the tape. */
#pragma once

#include "engine/exchange/table.h"

/* Zero-initialise, but for the sink. */
typedef struct td_table_facts {
  const td_row_sink *sink;  /* (borrowed) */
  td_number_map stacks;     /* by the place of the text in memory: 1 + its number */
  td_number_map begin, end; /* of passes: 1 + the time, or 0 */
} td_table_facts;

/* td_table_facts_about gives the rows about the tape and about these tables. */
void td_table_facts_about(const td_table_facts *rows, td_tape *tape);

/* td_table_facts_take takes an event, for the times of passes. */
void td_table_facts_take(td_table_facts *rows, const td_any_event *event);

/* td_table_facts_node gives the rows of a node: its own, its edges, its inputs, a new stack.
 * td_table_facts_whole gives those of threads, queues and passes. */
void td_table_facts_node(td_table_facts *rows, const td_catalog *catalog,
                         const td_catalog_node *node);
void td_table_facts_whole(td_table_facts *rows, const td_catalog *catalog, uint64_t first,
                          uint64_t end);
void td_table_facts_fini(td_table_facts *rows);
