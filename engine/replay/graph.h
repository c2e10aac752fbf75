/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The unchanging side of a tape: nodes, edges, threads, queues, devices and graph tasks as flat
 * arrays indexed by id, collected in one pass. What changes with time is in state.h. Read-only
 * after td_graph_collect, so any number of threads may read it. Strings are borrowed from the tape.
 */
#pragma once

#include "engine/trace/tape.h"

typedef struct td_graph_node {
  const char *name;  /* "MulBackward0"; "" where the tape does not say */
  const char *label; /* "conv1.weight", or NULL */
  const char *stack; /* or NULL */
  uint64_t sequence_nr;
  uint32_t topological_nr;
  int32_t device, stream;
  uint32_t n_inputs, n_outputs;
  uint32_t thread;           /* that created it */
  uint64_t created_seq;      /* event number of its node_new; UINT64_MAX without one */
  uint32_t first_out, n_out; /* slice of graph->edges: edges from this node, by output_nr */
  uint32_t first_in, n_in;   /* slice of graph->in_edges: numbers of edges to this node */
  uint32_t first_metadata, n_metadata; /* slice of graph->metadata, by input_nr */
} td_graph_node;

typedef struct td_graph_edge {
  uint32_t from, output_nr, to, input_nr;
} td_graph_edge;

typedef struct td_graph_metadata {
  uint32_t node, input_nr;
  const char *shape, *dtype;
  int32_t device;
  uint32_t bytes;
} td_graph_metadata;

typedef struct td_graph_thread {
  const char *name;
  int32_t device;
} td_graph_thread;

typedef struct td_graph_queue {
  int32_t device;
  uint32_t graph_task; /* TD_NONE: shared by all */
  uint32_t owner;      /* thread, or TD_NONE */
  td_queue_order order;
  uint32_t max_size; /* the most tasks it ever held */
} td_graph_queue;

typedef struct td_graph_task_facts {
  uint32_t depth, owner, root, n_roots, n_outputs;
  bool keep_graph, create_graph, accumulate_grad;
  uint64_t begin_seq, end_seq; /* end_seq is n_events where it never ended */
} td_graph_task_facts;

typedef struct td_graph_device {
  int32_t device;
  const char *name;
} td_graph_device;

typedef struct td_graph {
  td_graph_node *nodes; /* (owned), as all below */
  td_graph_edge *edges; /* ordered by (from, output_nr) */
  uint32_t *in_edges;
  td_graph_metadata *metadata;
  td_graph_thread *threads;
  td_graph_queue *queues;
  td_graph_task_facts *graph_tasks;
  td_graph_device *devices;
  uint32_t n_nodes, n_edges, n_metadata, n_threads, n_queues, n_graph_tasks, n_devices;
  const char *engine, *version, *source, *policy; /* from session_begin; "" where absent */
  uint32_t probe_level;
} td_graph;

/* td_graph_collect reads the whole tape once. Ids that no event declared get empty entries; an id
 * beyond what the tape's own counts allow is TD_DAMAGED. The graph borrows strings from the tape:
 * close it first. */
td_status td_graph_collect(td_tape *tape, td_graph **graph, td_error *error);
void td_graph_free(td_graph *graph);

/* td_graph_device_name returns "cpu", "sim:0", ...: the tape's name for a device. Borrowed. */
const char *td_graph_device_name(const td_graph *graph, int32_t device);
