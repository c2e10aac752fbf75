/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The world after an event: what every node, task, queue, thread and graph task is doing. Each of
 * them is a table without pointers, so two states are equal if their bytes are. A table lies in
 * pages. States of different moments share the pages that are equal in both, so that a checkpoint
 * and a seek copy nothing (engine/replay/checkpoints.h). Only engine/replay/apply.h writes a state.
 * Everybody else reads through `const td_state *`, valid until the replay that owns it moves. */
#pragma once

#include "engine/replay/catalog.h"

/* TD_NODE_STATE(name): a node's life, in the words of `state --json`. */
#define TD_NODE_STATES(X)                                                                          \
  X(created)                                                                                       \
  X(waiting)                                                                                       \
  X(partial) X(queued) X(running) X(done) X(skipped) X(captured) X(failed) X(released) X(absent)

typedef enum td_node_state {
#define X(name) TD_NODE_##name,
  TD_NODE_STATES(X)
#undef X
      TD_N_NODE_STATES
} td_node_state;

/* td_node_state_name returns "created", "waiting", ... */
const char *td_node_state_name(td_node_state state);

/* TD_CONTRADICTION(name): how an event can contradict the state before it. sentence.def has the
 * words, `contradicts_<name>`. */
#define TD_CONTRADICTIONS(X)                                                                       \
  X(unread)        /* the event cannot be read */                                                  \
  X(unnamed)       /* it does not name what it is about */                                         \
  X(impossible)    /* one of its values is none */                                                 \
  X(keyframe)      /* an event of the keyframe contradicts those before it */                      \
  X(created)       /* the node was there already */                                                \
  X(begun)         /* the pass had begun already */                                                \
  X(not_under_way) /* the pass was not under way */                                                \
  X(in_queue)      /* the task lay in a queue already */                                           \
  X(not_in_queue)  /* the task did not lie in this queue */                                        \
  X(no_task)       /* the node had no task in this pass */                                         \
  X(not_running)   /* the node did not run in this pass */

typedef enum td_contradiction {
  TD_CONTRADICTION_none,
#define X(name) TD_CONTRADICTION_##name,
  TD_CONTRADICTIONS(X)
#undef X
      TD_N_CONTRADICTIONS
} td_contradiction;

/* Events that contradict the state before them. */
typedef struct td_contradictions {
  uint64_t first; /* event number of the first, if there is one */
  uint32_t n;
  uint32_t why;   /* td_contradiction of the first */
  uint32_t state; /* td_node_state of the pair that it is about, if it is about one */
  uint32_t unused;
} td_contradictions;

/* Whether a value that is not finite was born in a node, and which. */
enum {
  TD_NODE_FINITE = 0,
  TD_NODE_NAN = 1 + TD_anomaly_kind_nan,
  TD_NODE_INF = 1 + TD_anomaly_kind_inf
};

/* Note [Pairs]
 * A node may take part in several passes at once: threads that train one model share its leaves,
 * and a pass inside a node may run that node again. So what a node does is a fact of the pair of
 * node and pass. A table of all pairs would grow with nodes times passes. So the node itself has
 * the pair of the last event about it, its *own*. When an event of another pass comes, that pair
 * becomes the node's own, and the one before is set aside into `pairs`, if its pass is not over
 * (td_pair_take). Only nodes that passes share at the same time have pairs there. td_state_pair
 * finds a pair, wherever it is. */

/* One node, with what it does in the pass of its own pair. `absent` (not yet created) is the state
 * before its node_new. */
typedef struct td_node_now {
  uint8_t state;       /* td_node_state */
  uint8_t anomaly;     /* TD_NODE_FINITE, TD_NODE_NAN or TD_NODE_INF */
  uint8_t birthplace;  /* td_birthplace, where anomaly is set */
  uint8_t before;      /* td_node_state, where state is released: what it was until then */
  uint32_t thread;     /* that runs or ran it last, or TD_NONE */
  uint32_t graph_task; /* of its own pair: that it took part in last, or TD_NONE */
  uint32_t task;       /* root of the tree of its tasks, or TD_NONE */
} td_node_now;

/* The last run of a node, in a table of its own: a node changes more often than its run. */
typedef struct td_run_now {
  uint64_t begin_ns, end_ns; /* 0 before */
} td_run_now;

/* What a node does in one pass. */
typedef struct td_pair_now {
  uint64_t begin_ns, end_ns; /* of its function there; 0 before */
  uint32_t thread;           /* that runs or ran it there, or TD_NONE; of a free pair, the next */
  uint8_t state;             /* td_node_state */
  uint8_t before;            /* td_node_state, where state is released: what it was until then */
  bool is_over;              /* run, skipped or captured: only its pass still goes on */
  bool is_known;             /* false: the state tells no more of it (td_state_pair) */
} td_pair_now;

/* One live (graph task, node) pair: from its `dependency` event, or its push where it has none,
 * until the node was run, skipped or captured. A pair that is over and set aside keeps its task
 * until its pass is over. A free task is as it was before any event. */
typedef struct td_task_now {
  uint32_t node, graph_task;         /* node: TD_NONE while free */
  uint32_t dependencies;             /* gradients still missing */
  uint32_t expected;                 /* gradients at the start */
  uint32_t child[2];                 /* in the tree, or TD_NONE */
  uint32_t pass_prev, pass_next;     /* a list of the graph task, newest first, or TD_NONE */
  uint32_t first_arrival;            /* newest first, or TD_NONE */
  uint32_t queue;                    /* that it waits in, or TD_NONE */
  uint32_t place;                    /* in that queue's heap, if the heap is large (queue_heap.c) */
  uint32_t parked;                   /* 1: its buffer lies in not_ready */
  uint32_t parked_prev, parked_next; /* list of parked tasks, in the order of parking */
  uint32_t pair;                     /* in `pairs`, or TD_NONE: it is the node's own */
} td_task_now;

/* One gradient in an input buffer. */
typedef struct td_arrival_now {
  uint32_t from, input_nr, next;
  uint32_t bytes;
  uint32_t mode; /* td_accumulation */
} td_arrival_now;

/* One entry of a ready queue's heap. A dummy and a shutdown task have the node TD_NONE. */
typedef struct td_queue_entry {
  uint32_t node, graph_task, kind; /* kind: td_task_kind */
  uint32_t order;                  /* rank of its push, for fifo and lifo queues */
} td_queue_entry;

typedef struct td_queue_now {
  uint32_t n;           /* tasks in it now */
  uint32_t first, room; /* where its heap lies in `entries`: it moves when it outgrows its room */
  uint32_t n_pushed, n_popped;
  uint32_t last_node;    /* last popped, or TD_NONE */
  uint64_t last_pop_seq; /* its event number; UINT64_MAX before any */
  uint32_t last_depth;   /* of the pass that it was popped for */
  uint32_t unused;
} td_queue_now;

typedef struct td_thread_now {
  uint32_t state; /* td_thread_activity */
  uint32_t node;  /* being run or scattered, or TD_NONE */
  uint32_t graph_task;
  uint32_t lock; /* td_lock_kind waited for, or TD_NONE */
  uint64_t since_ns;
} td_thread_now;

/* How a graph task stands. One that is over has a greater status. */
enum { TD_PASS_NOT_BEGUN = 0, TD_PASS_RUNNING = 1 + TD_task_status_running };

typedef struct td_graph_task_now {
  uint32_t status; /* TD_PASS_NOT_BEGUN, or TD_PASS_RUNNING + a task_status of enums.def */
  uint32_t outstanding;
  uint32_t n_done; /* nodes run, skipped or captured */
  uint32_t n_parked;
  uint32_t n_live;     /* its live tasks */
  uint32_t first_live; /* 1 + the newest of them, or 0 */
  uint32_t first_over; /* 1 + the newest of its tasks whose pairs are over, or 0 */
} td_graph_task_now;

typedef struct td_state_header {
  uint64_t seq;                           /* number of events applied: 0 is "before the first" */
  uint64_t time_ns;                       /* of the last applied event */
  uint32_t n_free_tasks, n_tasks_used;    /* free tasks, and high-water mark of tasks */
  uint32_t free_arrival, n_arrivals_used; /* free list and high-water mark of arrivals */
  uint32_t first_parked, last_parked;
  uint32_t current_node; /* node named by the last applied event that names one, or TD_NONE */
  uint32_t n_anomalies;
  uint32_t step; /* last `step` iteration, or TD_NONE */
  uint32_t n_entries_used;
  uint32_t free_pair, n_pairs_used; /* free list and high-water mark of pairs */
  td_contradictions contradictions; /* so far */
} td_state_header;

/* TD_STATE_PART(element, table, type): the tables of a state. Queues and threads are indexed by id,
 * the others by place. Nodes and graph tasks have their places in the order in which events name
 * them first, and a run has that of its node. */
#define TD_STATE_PARTS(PART)                                                                       \
  PART(node_at, nodes, td_node_now)                                                                \
  PART(run_at, runs, td_run_now)                                                                   \
  PART(queue, queues, td_queue_now)                                                                \
  PART(thread, threads, td_thread_now)                                                             \
  PART(graph_task_at, graph_tasks, td_graph_task_now)                                              \
  PART(entry, entries, td_queue_entry) /* heaps of all queues */                                   \
  PART(task, tasks, td_task_now)                                                                   \
  PART(free_task, free_tasks, uint32_t) /* a stack of places in `tasks` */                         \
  PART(arrival, arrivals, td_arrival_now)                                                          \
  PART(pair_at, pairs, td_pair_now)

#define TD_STATE_PAGE_BYTES 2048u

/* Elements of one table. They never lie across two pages. */
typedef struct td_state_page {
  _Alignas(16) uint64_t number; /* in td_state.pages, if the page is not shared */
  _Alignas(16) unsigned char elements[TD_STATE_PAGE_BYTES - 16];
} td_state_page;

#define TD_STATE_PER_PAGE(type) ((uint32_t)(sizeof(((td_state_page *)0)->elements) / sizeof(type)))

typedef struct td_state {
  const td_catalog *catalog; /* (borrowed) */
  td_state_header *header;
  td_state_page *const *pages; /* [n_pages] of all tables; the first one has the header */
  uint32_t n_pages;
#define TD_STATE_PART(element, table, type) const uint32_t *table; /* the numbers of its pages */
  TD_STATE_PARTS(TD_STATE_PART)
#undef TD_STATE_PART
} td_state;

/* td_state_node_at, td_state_queue, ... return an element of a table. */
#define TD_STATE_PART(element, table, type)                                                        \
  static inline const type *td_state_##element(const td_state *state, uint32_t i) {                \
    const td_state_page *page = state->pages[state->table[i / TD_STATE_PER_PAGE(type)]];           \
    return (const type *)(const void *)page->elements + i % TD_STATE_PER_PAGE(type);               \
  }
TD_STATE_PARTS(TD_STATE_PART)
#undef TD_STATE_PART

/* td_state_node_row and its like return the element of a row of the catalog. */
static inline const td_node_now *
td_state_node_row(const td_state *state, uint32_t row) {
  return td_state_node_at(state, td_catalog_place(state->catalog->node_places, row));
}

static inline const td_run_now *
td_state_run_row(const td_state *state, uint32_t row) {
  return td_state_run_at(state, td_catalog_place(state->catalog->node_places, row));
}

static inline const td_graph_task_now *
td_state_graph_task_row(const td_state *state, uint32_t row) {
  return td_state_graph_task_at(state, td_catalog_place(state->catalog->graph_task_places, row));
}

/* td_state_node and its like return the element of an id that an event names. */
static inline const td_node_now *
td_state_node(const td_state *state, uint32_t node) {
  return td_state_node_row(state, td_catalog_node_row(state->catalog, node));
}

static inline const td_run_now *
td_state_run(const td_state *state, uint32_t node) {
  return td_state_run_row(state, td_catalog_node_row(state->catalog, node));
}

static inline const td_graph_task_now *
td_state_graph_task(const td_state *state, uint32_t graph_task) {
  return td_state_graph_task_row(state, td_catalog_graph_task_row(state->catalog, graph_task));
}

/* td_state_queue_order writes the tasks of a queue in the order in which they will be popped if
 * nothing else is pushed. `out` has room for td_state_queue(state, queue)->n. */
void td_state_queue_order(const td_state *state, const td_catalog *catalog, uint32_t queue,
                          td_queue_entry *out);

/* td_state_queue_first writes the first `most` tasks of that order, or all. It costs a copy of the
 * queue. */
void td_state_queue_first(const td_state *state, const td_catalog *catalog, uint32_t queue,
                          uint32_t most, td_queue_entry *out);

/* td_state_task_of_pair returns the index of the task of a node in a graph task, also if the pair
 * is over, or TD_NONE. The tasks of a node are a tree. Level n of the tree decides by bit n of the
 * graph task's id: if it is set, the way goes on at child[1]. So no way is longer than an id has
 * bits, however many graph tasks share a node. */
static inline uint32_t
td_state_task_of_pair(const td_state *state, uint32_t node, uint32_t graph_task) {
  uint32_t task = td_state_node(state, node)->task;
  for (uint32_t bits = graph_task;
       task != TD_NONE && td_state_task(state, task)->graph_task != graph_task; bits >>= 1)
    task = td_state_task(state, task)->child[bits & 1];
  return task;
}

/* td_state_task_is_over tells whether the pair of a task is over. */
static inline bool
td_state_task_is_over(const td_state *state, uint32_t task) {
  uint32_t pair = td_state_task(state, task)->pair;
  return pair != TD_NONE && td_state_pair_at(state, pair)->is_over;
}

/* td_state_task_at returns the index of the live task of a node in a graph task, or TD_NONE. */
static inline uint32_t
td_state_task_at(const td_state *state, uint32_t node, uint32_t graph_task) {
  uint32_t task = td_state_task_of_pair(state, node, graph_task);
  return task != TD_NONE && td_state_task_is_over(state, task) ? TD_NONE : task;
}

/* td_state_task_find returns the live task of a node in a graph task, or NULL. For TD_NONE, it is
 * that of the graph task in which the node took part last, or else any. */
const td_task_now *td_state_task_find(const td_state *state, uint32_t node, uint32_t graph_task);

/* td_state_pair returns what a node does in a graph task. A node that has taken no part in it yet
 * is created there. For TD_NONE it is what the node does at all: its most active pair, and if none
 * is live, the last one. If the graph task is over and another one has used the node since,
 * `is_known` is false, unless the node ran and the graph task ended well: then it is done. */
td_pair_now td_state_pair(const td_state *state, uint32_t node, uint32_t graph_task);

/* td_state_each_pair calls `visit` for the pairs that the state has of a node: its own first, then
 * those of other passes, most of which are under way. */
typedef void (*td_pair_visitor)(uint32_t graph_task, const td_pair_now *pair, void *data);
void td_state_each_pair(const td_state *state, uint32_t node, td_pair_visitor visit, void *data);
