/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An index of a trace: which nodes there are, and which forward operator made each. A tape begins
 * with them, so the index comes first. A node has a sequence number on the thread that made it.
 * Evaluations name that thread by a small number of the profiler's own. Newer traces say by
 * `fwdbwd` arrows which of the system's threads that is. In older traces it is the thread with more
 * of the nodes' sequence numbers than any other. Belongs to one thread at a time.
 */
#pragma once

#include "engine/base/number_map.h"
#include "engine/exchange/nesting.h"

/* A node's key holds its forward thread in the upper bits and its sequence number below. */
#define TD_TRACE_SEQUENCE_BITS 44
#define TD_TRACE_SEQUENCE_MASK ((UINT64_C(1) << TD_TRACE_SEQUENCE_BITS) - 1)

typedef struct td_trace_node {
  uint64_t key;
  int64_t first_begin_ns;
  uint32_t name;       /* in the importer's texts */
  uint32_t id;         /* on the tape, TD_NONE until it is there */
  uint32_t made_on;    /* the thread that made it, TD_NONE: unknown */
  uint32_t graph_task; /* in which it ran last */
} td_trace_node;

typedef struct td_trace_index {
  td_trace_node *nodes; /* (owned) */
  uint32_t n_nodes, capacity;
  td_number_map by_key;  /* of nodes */
  td_number_map by_flow; /* nodes by the arrows that end at them */
  td_number_map makers; /* without arrows: (thread, sequence number) to the last operator's begin */
  td_number_map made;   /* and to the node that it made */
  uint32_t *n_plain;    /* (owned) by thread: operators outside of all evaluations */
  uint32_t n_threads;
  bool has_flows;
  td_nesting nesting;
} td_trace_index;

/* slack_ns: the step of the trace's clock; has_flows: it has arrows from operators to nodes. */
void td_trace_index_init(td_trace_index *index, uint32_t n_threads, int64_t slack_ns,
                         bool has_flows);
void td_trace_index_fini(td_trace_index *index);

/* td_trace_index_add takes the next span in order of time, td_trace_index_end says it was the last.
 */
void td_trace_index_add(td_trace_index *index, const td_span *span);
void td_trace_index_end(td_trace_index *index);

/* td_trace_index_find returns the node that a span of the engine is about, or NULL if the span has
 * no sequence number. td_trace_index_find_made returns the node that a forward operator made; the
 * span is the operator or the arrow that leaves it. */
td_trace_node *td_trace_index_find(const td_trace_index *index, const td_span *span);
td_trace_node *td_trace_index_find_made(const td_trace_index *index, const td_span *span);
