/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tape of a foreign trace, told span by span in order of time. What follows from a trace:
 *
 * - Nodes: an evaluation's name and sequence number. They are new where a forward operator is known
 *   to have made them, else just before they run. AccumulateGrad has no number: each of its runs is
 *   a node of its own. Old traces have no numbers at all: so there, for every node.
 * - Times: node_begin and node_end are seen; what an evaluation takes beyond its node is hooks,
 *   buffers and pushes (thread_state: processing before, scattering after). Python functions
 *   outside of the node are its hooks, and so are operators before it.
 * - Passes: where Python's call of the engine was seen (with_stack), what runs in it. Else a
 *   maximal run of evaluations: the thread that called backward does nothing else in between, and
 * no node runs twice. An evaluation inside another is of an inner pass, one deeper.
 * - Edges: an AccumulateGrad runs at once when it is ready, for nothing goes before it in its
 * queue; so the node that its thread ran last completed it. No other edge follows.
 *
 * Belongs to one thread at a time. */
#pragma once

#include "engine/base/text_table.h"
#include "engine/exchange/trace_index.h"
#include "engine/trace/maker.h"

/* A process and a thread of the trace. */
typedef struct td_trace_process {
  uint32_t pid, name; /* 0: unknown; in the importer's texts */
  uint32_t id;        /* on the tape, TD_NONE until one of its threads has an event there */
} td_trace_process;

typedef struct td_trace_thread {
  uint32_t process; /* in the importer's processes */
  uint32_t name;    /* in its texts */
  uint32_t id;      /* on the tape, TD_NONE until it has an event there */
} td_trace_thread;

typedef struct td_trace_tape {
  td_maker *maker;             /* (borrowed) */
  td_trace_index *index;       /* (borrowed) */
  td_text_table *texts;        /* (borrowed) */
  td_trace_thread *threads;    /* (borrowed) */
  td_trace_process *processes; /* (borrowed) */
  int32_t rank;                /* of all of them, or -1 */
  int64_t start_ns;            /* of the trace's time: 0 on the tape */
  td_nesting nesting;
  td_open_pass *passes;     /* (owned) by thread: what it called */
  uint32_t *joined;         /* (owned) by thread: whose pass it ran a node of last */
  uint32_t caller;          /* the only thread that does more than evaluate, or TD_NONE */
  td_number_map stacks;     /* strings of stacks and module paths by what they are made of */
  uint32_t accumulate_grad; /* that name in the texts */
  uint32_t n_nodes, n_graph_tasks, n_threads, n_processes, n_edges;
  uint64_t n_runs, n_steps, n_hooks, n_stacks;
} td_trace_tape;

/* What leaves are called, in all versions, without C++'s qualifier. */
#define TD_TRACE_ACCUMULATE_GRAD "AccumulateGrad"

/* td_trace_tape_init needs the borrowed members above. td_trace_tape_add takes the next span,
 * td_trace_tape_end ends all that is open. */
void td_trace_tape_init(td_trace_tape *tape, uint32_t n_threads, int64_t slack_ns);
void td_trace_tape_add(td_trace_tape *tape, const td_span *span);
void td_trace_tape_end(td_trace_tape *tape);
void td_trace_tape_fini(td_trace_tape *tape);

/* td_trace_tape_at returns a time of the trace as one of the tape. */
uint64_t td_trace_tape_at(const td_trace_tape *tape, int64_t ns);
