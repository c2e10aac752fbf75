/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Everything that is on a tape, described once: nodes, edges, threads, queues, devices and graph
 * tasks as flat arrays. What changes with time is in state.h. A catalog is read-only once it is
 * collected, so any number of threads may read it. Strings are borrowed from the tape, except those
 * marked (owned).
 *
 * Threads and queues are few: their arrays are indexed by id. Nodes and graph tasks are not. A tape
 * from the middle of a long run has few of them, with great ids. So each one that an event names
 * has a row, in the order of the ids. Whoever keeps something for each node indexes it by row. On a
 * tape that has all ids from 0 on, the rows are the ids.
 *
 * A catalog may be of one segment of the tape alone (engine/trace/segment.h): then it has what the
 * segment's keyframe and its events name. */
#pragma once

#include "engine/base/id_rows.h"
#include "engine/trace/tape.h"

typedef struct td_catalog_node {
  uint32_t id;
  bool asked;               /* while events are collected: one of them was about its tasks */
  bool renumbered;          /* the program gave it another sequence_nr */
  const char *name;         /* "MulBackward0"; "" if the tape does not say */
  const char *label;        /* "conv1.weight", or NULL */
  const char *stack;        /* where the forward pass made it, innermost line last, or NULL */
  const char *module;       /* "encoder.layers.3", or NULL */
  const char *module_class; /* "Linear", or NULL */
  uint64_t sequence_nr;
  uint32_t topological_nr;
  int32_t device, stream;
  uint32_t n_inputs, n_outputs;
  uint32_t thread;           /* that created it */
  uint64_t created_seq;      /* event number of its node_new; UINT64_MAX without one */
  uint32_t first_out, n_out; /* slice of catalog->edges: edges from this node, by output_nr */
  uint32_t first_in, n_in;   /* slice of catalog->in_edges: edges to this node, in rising order */
  uint32_t first_metadata, n_metadata; /* slice of catalog->metadata, by input_nr */
} td_catalog_node;

typedef struct td_catalog_edge {
  uint32_t from, output_nr, to, input_nr;
} td_catalog_edge;

typedef struct td_catalog_metadata {
  uint32_t node, input_nr;
  const char *shape, *dtype;
  int32_t device;
  uint32_t bytes;
} td_catalog_metadata;

typedef struct td_catalog_thread {
  const char *name;
  int32_t device;
  uint32_t process;  /* index of catalog->processes; 0 on a tape of one process */
  uint32_t tid;      /* the system's number; 0 where the tape does not say */
  uint64_t told_seq; /* the event that gave it this name */
  bool in_pool;      /* of the pool that runs passes too deep for their thread */
  bool named;        /* an event names it: ids may have gaps */
} td_catalog_thread;

typedef struct td_catalog_process {
  const char *name; /* "" where the tape does not say */
  uint32_t pid;     /* 0 where the tape does not say */
  int32_t rank;     /* -1: it has none */
  uint64_t
      clock_error_ns; /* how far its times may be off those of the first; UINT64_MAX: unknown */
} td_catalog_process;

typedef struct td_catalog_queue {
  int32_t device;
  uint32_t graph_task; /* TD_NONE: shared by all */
  uint32_t owner;      /* thread, or TD_NONE */
  td_queue_order order;
  uint32_t max_size; /* the most tasks it ever held, as far as this catalog knows */
  bool named;        /* an event names it */
  bool asked;        /* see td_catalog_node */
} td_catalog_queue;

typedef struct td_catalog_graph_task {
  uint32_t id;
  uint32_t depth, owner, root, n_roots, n_outputs;
  bool keep_graph, create_graph, accumulate_grad;
  bool asked;      /* see td_catalog_node */
  uint32_t number; /* among the passes of the tape, as they began, from 1; 0: began before */
  uint64_t begin_seq, end_seq; /* end_seq is n_events where it never ended */
  uint64_t begin_ns, took_ns;  /* took_ns is 0 where it never ended */
  uint32_t status;             /* a task_status; running if it never ended */
  uint32_t outer,
      caller; /* of a nested pass: the pass and the node that it runs in; else TD_NONE */
  uint32_t first_ran, n_ran; /* slice of catalog->ran: nodes that began in it */
} td_catalog_graph_task;

typedef struct td_catalog_device {
  int32_t device;
  const char *name;
  char *label; /* (owned) the name as one line, for people */
} td_catalog_device;

typedef struct td_catalog_stream {
  int32_t device, stream;
} td_catalog_stream;

/* How the engine was set: "semantics" is "2.15". */
typedef struct td_catalog_setting {
  const char *name, *value;
} td_catalog_setting;

/* So many stretches has an outline at most. */
#define TD_CATALOG_STRETCHES 1024

/* A training step that is over, in the process of a thread. */
typedef struct td_catalog_step {
  uint64_t seq;
  uint32_t iteration, thread;
} td_catalog_step;

/* Steps of which the tape lacks passes. */
typedef struct td_catalog_left_out {
  uint32_t first, n_steps, n_passes, thread;
  const char *chosen; /* the user's options */
} td_catalog_left_out;

/* One of the stretches of a tape that is cut: engine/replay/outline_stretches.h. It begins where
 * the one before ends. */
typedef struct td_catalog_stretch {
  uint64_t end, end_ns; /* the event behind it; the time of its last event */
  uint64_t busy_ns;     /* for which nodes ran, of all threads */
  uint32_t most;        /* length of the longest queue */
} td_catalog_stretch;

/* Of a problem: the event that may have led to it, or TD_NO_CAUSE if none was found. A claim of the
 * tape: engine/replay/cause_list.h. */
#define TD_NO_CAUSE UINT64_MAX
typedef struct td_catalog_cause {
  uint64_t seq, cause;
} td_catalog_cause;

/* So many problems of a tape have a cause at most: the first ones. */
#define TD_CATALOG_CAUSES 1000

/* An event and what it is about: a node, or for a write a version counter; or TD_NONE. */
typedef struct td_catalog_mention {
  uint64_t seq;
  uint32_t node, kind;
} td_catalog_mention;

/* The events of one td_event_list: problems in the order of the tape, the others by what they are
 * about, then in that order. */
typedef struct td_catalog_mentions {
  td_catalog_mention *items; /* (owned) [n] */
  uint32_t n;
} td_catalog_mentions;

typedef struct td_catalog {
  td_segment segment;                     /* that it is of */
  td_id_rows node_ids, graph_task_ids;    /* (owned), as all below */
  td_catalog_node *node_rows;             /* [n_nodes] ordered by id */
  td_catalog_graph_task *graph_task_rows; /* [n_graph_tasks] ordered by id */
  /* By row: how many others events named before. NULL: they named all in the order of the ids. */
  uint32_t *node_places, *graph_task_places;
  td_catalog_edge *edges; /* ordered by (from, output_nr) */
  uint32_t *in_edges;     /* numbers of edges */
  td_catalog_metadata *metadata;
  td_catalog_thread *threads;
  td_catalog_queue *queues;
  td_catalog_device *devices;    /* ordered by device */
  td_catalog_process *processes; /* at least one */
  td_catalog_stream *streams;    /* in the order in which they were made */
  td_catalog_setting *settings;  /* in the order of the tape */
  td_catalog_step *steps;        /* in the order of the tape */
  td_catalog_left_out *left_out; /* in the order of the tape */
  td_catalog_stretch *stretches; /* [n_stretches] in the order of the tape; of an outline */
  td_catalog_cause *causes; /* [n_causes] by problem, in the order of the tape; of an outline */
  uint32_t n_steps, n_left_out, n_settings, n_streams, n_stretches, n_causes;
  td_catalog_mentions mentions[TD_N_LISTS];
  uint32_t n_passes_before;           /* of the tape: that began before the segment */
  uint64_t n_by_kind[TD_EVENT_LIMIT]; /* of the events that it was collected from */
  uint32_t *ran; /* nodes by the graph task in which they began, in that order */
  uint32_t n_nodes, n_edges, n_metadata, n_threads, n_queues, n_graph_tasks, n_devices, n_processes,
      n_ran;
  const char *engine, *version, *source, *policy; /* from session_begin; "" where absent */
  bool has_modules;                               /* some node has its module */
  uint32_t recorder_stopped; /* 1 << td_recorder_work: what the recorder did no more */
  uint32_t probe_level;
  const char *probe_reason; /* why not a higher level; "" where the tape does not say */
} td_catalog;

/* td_catalog_event copies an event of the tape, and makes sure that the catalog has what the event
 * names. TD_OUT_OF_RANGE if not; else as td_tape_get. */
td_status td_catalog_event(const td_catalog *catalog, td_tape *tape, uint64_t seq,
                           td_any_event *out, td_error *error);

/* td_catalog_declares tells whether the catalog has the declaration of each node that an event
 * names. An outline has those of the first problems. */
bool td_catalog_declares(const td_catalog *catalog, const td_event *event);

/* td_catalog_free frees a catalog. Its strings stay with the tape. */
void td_catalog_free(td_catalog *catalog);

/* td_catalog_node_row and td_catalog_graph_task_row return the row of an id, or TD_NO_ROW if no
 * event names it. */
static inline uint32_t
td_catalog_node_row(const td_catalog *catalog, uint32_t node) {
  return td_id_rows_find(&catalog->node_ids, node);
}

static inline uint32_t
td_catalog_graph_task_row(const td_catalog *catalog, uint32_t graph_task) {
  return td_id_rows_find(&catalog->graph_task_ids, graph_task);
}

/* td_catalog_place returns a row's place in catalog->node_places or graph_task_places. */
static inline uint32_t
td_catalog_place(const uint32_t *places, uint32_t row) {
  return __builtin_expect(!places, 1) ? row : places[row];
}

/* td_catalog_has_node tells whether an event names that node, td_catalog_has_graph_task whether one
 * names that graph task. */
static inline bool
td_catalog_has_node(const td_catalog *catalog, uint32_t node) {
  return td_catalog_node_row(catalog, node) != TD_NO_ROW;
}

static inline bool
td_catalog_has_graph_task(const td_catalog *catalog, uint32_t graph_task) {
  return td_catalog_graph_task_row(catalog, graph_task) != TD_NO_ROW;
}

/* td_catalog_n_passes_begun returns how many passes of the tape have begun: while a catalog is
 * collected, up to the event at hand. */
static inline uint32_t
td_catalog_n_passes_begun(const td_catalog *catalog) {
  return catalog->n_passes_before + (uint32_t)catalog->n_by_kind[TD_EVENT_graph_task_begin];
}

/* td_catalog_node_get and td_catalog_graph_task_get return what the tape tells of an id that an
 * event names. */
static inline const td_catalog_node *
td_catalog_node_get(const td_catalog *catalog, uint32_t node) {
  return &catalog->node_rows[td_catalog_node_row(catalog, node)];
}

static inline const td_catalog_graph_task *
td_catalog_graph_task_get(const td_catalog *catalog, uint32_t graph_task) {
  return &catalog->graph_task_rows[td_catalog_graph_task_row(catalog, graph_task)];
}

/* td_catalog_node_find and td_catalog_graph_task_find return the same, or NULL if no event names
 * the id. */
static inline const td_catalog_node *
td_catalog_node_find(const td_catalog *catalog, uint32_t node) {
  uint32_t row = td_catalog_node_row(catalog, node);
  return row == TD_NO_ROW ? NULL : &catalog->node_rows[row];
}

static inline const td_catalog_graph_task *
td_catalog_graph_task_find(const td_catalog *catalog, uint32_t graph_task) {
  uint32_t row = td_catalog_graph_task_row(catalog, graph_task);
  return row == TD_NO_ROW ? NULL : &catalog->graph_task_rows[row];
}

/* td_catalog_is_outermost tells whether a pass that an event names lies in no other one. It holds
 * once the pass has begun, though the tape may tell of the entry later. */
static inline bool
td_catalog_is_outermost(const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  return facts && facts->depth == 0 && facts->outer == TD_NONE && facts->caller == TD_NONE;
}

/* td_catalog_depth returns how deep a pass is nested; 0 if no event names it. */
static inline uint32_t
td_catalog_depth(const td_catalog *catalog, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(catalog, graph_task);
  return facts ? facts->depth : 0;
}

/* td_catalog_mentions_of returns what a list (any but the problems) has about a node or counter, *n
 * of them. */
const td_catalog_mention *td_catalog_mentions_of(const td_catalog *catalog, td_event_list list,
                                                 uint32_t node, uint32_t *n);

/* td_catalog_edges_between returns the numbers of the edges from one node to another, *n of them,
 * by output_nr. */
const uint32_t *td_catalog_edges_between(const td_catalog *catalog, uint32_t from, uint32_t to,
                                         uint32_t *n);

/* td_catalog_metadata_find returns what a node expects at an input, or NULL if the tape does not
 * say: an undefined input has no metadata. */
const td_catalog_metadata *td_catalog_metadata_find(const td_catalog *catalog,
                                                    const td_catalog_node *node, uint32_t input_nr);

/* td_catalog_device_name returns "cpu", "sim:0", ...: the tape's name for a device.
 * td_catalog_device_label returns it as one line, for people. Both results are borrowed, and live
 * as long as the catalog. */
const char *td_catalog_device_name(const td_catalog *catalog, int32_t device);
const char *td_catalog_device_label(const td_catalog *catalog, int32_t device);

/* td_catalog_setting_find returns the value of the first setting of a name, or "". */
const char *td_catalog_setting_find(const td_catalog *catalog, const char *name);

/* td_catalog_module_label returns the class and the name of the module that made a node: "Linear ·
 * encoder.layers.3". NULL if the tape does not say. The caller frees.
 * td_catalog_node_module_label does so from the node's facts; NULL are none. */
char *td_catalog_module_label(const td_catalog *catalog, uint32_t node);
char *td_catalog_node_module_label(const td_catalog_node *facts);

/* td_catalog_process_label returns what people call a process: "rank 1", "train.py (1234)" or
 * "process 1". td_catalog_thread_label returns a thread's name, or "thread 3" without one. On a
 * tape of several processes the process comes first: "rank 1 · main". The caller frees. */
char *td_catalog_process_label(const td_catalog *catalog, uint32_t process);
char *td_catalog_thread_label(const td_catalog *catalog, uint32_t thread);

/* td_catalog_process_of_task returns the process in which a graph task ran,
 * td_catalog_process_of_queue that of a queue's owner. */
uint32_t td_catalog_process_of_task(const td_catalog *catalog, uint32_t graph_task);
uint32_t td_catalog_process_of_queue(const td_catalog *catalog, uint32_t queue);
