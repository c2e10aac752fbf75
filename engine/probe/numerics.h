/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numerics: where NaN and Inf are born in an engine that is only watched, and what its gradients
 * look like. An observer says what it sees at each place; here it is compared, and told on the
 * tape. Nothing is held but numbers: memory is read while its owner is there, by whom the observer
 * is called. Any thread. Read by C and C++. */
#pragma once

#include "engine/base/numbers.h"
#include "engine/events/event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TD_NUMERICS_API __attribute__((visibility("default")))

/* A gradient as an observer sees it. */
typedef struct td_gradient {
  const void *identity; /* its address; NULL: undefined */
  uint32_t version;     /* changes when it is written in place */
  td_numbers numbers;
  const char *unread; /* why it cannot be read, a literal; NULL: it can */
} td_gradient;

/* Where an output goes. */
typedef struct td_gradient_edge {
  uint32_t node, input_nr; /* TD_NONE: nowhere */
} td_gradient_edge;

/* What is looked for; both false: the observer may leave out all the calls below. */
extern TD_NUMERICS_API bool td_numerics_anomalies, td_numerics_statistics;

/* td_numerics_configure sets it by the hub's words: off, nan, nonfinite; off, finite, full; NULL is
 * off. Not while an engine runs. td_numerics_forget is for the begin of a recording. */
TD_NUMERICS_API void td_numerics_configure(const char *anomaly, const char *stats);
TD_NUMERICS_API void td_numerics_forget(void);

/* td_numerics_look returns what is found in a gradient, as td_numbers_look; 0 where it cannot be
 * read. */
TD_NUMERICS_API unsigned td_numerics_look(const td_gradient *gradient);

/* What was last seen of one of a node's gradients. */
typedef struct td_numerics_seen {
  const void *identity, *data;
  uint64_t n; /* elements at data */
  uint32_t version;
  unsigned found;                       /* bits of td_numbers_look */
  struct td_contribution *contribution; /* (borrowed) of an output, on its way to a sum */
} td_numerics_seen;

#define TD_NUMERICS_FEW 4
typedef struct td_numerics_list {
  td_numerics_seen *at, few[TD_NUMERICS_FEW]; /* (owned where it is not few) */
  uint32_t n;
} td_numerics_list;

/* One evaluation of a node, on the stack of the thread that does it; they nest. */
typedef struct td_numerics_frame {
  struct td_numerics_frame *outer;
  uint32_t graph_task, node;
  td_numerics_list inputs, outputs;
  td_numerics_seen stored; /* in .grad, before AccumulateGrad adds to it */
} td_numerics_frame;

/* td_numerics_enter: a node is about to be evaluated with what has come to its inputs. Here it
 * shows whether the sums made something, or hooks behind the senders. is_root: the caller of
 * backward gave the inputs. td_numerics_leave ends it, however the evaluation ends. */
TD_NUMERICS_API void td_numerics_enter(td_numerics_frame *frame, uint32_t graph_task, uint32_t node,
                                       bool is_root, uint32_t n_inputs, const td_gradient *inputs);
TD_NUMERICS_API void td_numerics_leave(td_numerics_frame *frame);

/* td_numerics_is_evaluating tells whether the calling thread is between the two. What follows is
 * for the evaluation that the thread is in, and nothing where it is in none. */
TD_NUMERICS_API bool td_numerics_is_evaluating(void);

/* td_numerics_apply_begin: the node's function is called with these inputs, after its pre hooks;
 * is_leaf: it is an AccumulateGrad. td_numerics_apply_end: it has returned these outputs, and post
 * hooks will see them. is_graph_root: they are what backward was called with. */
TD_NUMERICS_API void td_numerics_apply_begin(bool is_leaf, uint32_t n_inputs,
                                             const td_gradient *inputs);
TD_NUMERICS_API void td_numerics_apply_end(bool is_graph_root, bool has_post_hooks,
                                           uint32_t n_outputs, const td_gradient *outputs,
                                           const td_gradient_edge *edges);

/* td_numerics_hook_end: a hook has returned these gradients: the node's inputs, or its outputs
 * where is_post. `name` is an interned string. */
TD_NUMERICS_API void td_numerics_hook_end(bool is_post, uint32_t name, uint32_t n,
                                          const td_gradient *gradients);

/* td_numerics_store_begin: AccumulateGrad is about to add to what .grad holds;
 * td_numerics_store_end: it has done so. Identity NULL: .grad is None. */
TD_NUMERICS_API void td_numerics_store_begin(const td_gradient *stored);
TD_NUMERICS_API void td_numerics_store_end(const td_gradient *stored);

/* td_numerics_end_task: a graph task is over; what an error left of it is forgotten. */
TD_NUMERICS_API void td_numerics_end_task(uint32_t graph_task);

/* What an operation of the forward pass did that made a node, known by the thread that made it and
 * its sequence number there. */
typedef struct td_numerics_forward {
  uint64_t thread, sequence_nr;
  unsigned before, came_in, after; /* in operands; in those that have no history; in results */
  uint32_t operand_nr, result_nr;  /* the first where it was found */
} td_numerics_forward;

/* td_numerics_note_forward keeps it (if_new: unless something is kept of that operation already);
 * td_numerics_announce tells of it once the node has its id. */
TD_NUMERICS_API void td_numerics_note_forward(const td_numerics_forward *forward, bool if_new);
TD_NUMERICS_API void td_numerics_announce(uint32_t node, uint64_t thread, uint64_t sequence_nr);

#ifdef __cplusplus
}
#endif
