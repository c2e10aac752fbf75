/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numerics: where NaN and Inf are born in an engine that is only watched, and what its gradients
 * look like. An observer passes the gradients that it sees at each place. The probe compares them
 * and puts the result on the tape. It keeps numbers alone: it reads a gradient's memory during the
 * call, while the gradient's owner is there. Any thread. Read by C and C++. */
#pragma once

#include "engine/probe/gradient.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TD_NUMERICS_API __attribute__((visibility("default")))

/* What the probe looks for. If both are false, the observer may leave out all the calls below. */
extern TD_NUMERICS_API bool td_numerics_anomalies, td_numerics_statistics;

/* Set if nobody tells of hooks. A change on the way to an input is then a hook's, and so is a NaN
 * that no sum can have made. */
extern TD_NUMERICS_API bool td_numerics_hooks_unseen;

/* td_numerics_configure sets both by the hub's words. `anomaly` is off, nan or nonfinite; `stats`
 * is off, finite or full; NULL is off. The caller may not call it while an engine runs. */
TD_NUMERICS_API void td_numerics_configure(const char *anomaly, const char *stats);

/* td_numerics_begin begins with a recording: it forgets an earlier one, and says on the tape what
 * is looked for: the setting "anomaly". */
TD_NUMERICS_API void td_numerics_begin(void);

/* td_numerics_check withdraws the numbers of a gradient that nobody can read within the `n_bytes`
 * from its data on, each byte once, and says why in `unread`. Whoever describes a gradient calls it
 * last. */
TD_NUMERICS_API void td_numerics_check(td_gradient *gradient, uint64_t n_bytes);

/* td_numerics_look returns the bits that td_numbers_look finds in a gradient; 0 if nobody can read
 * it. */
TD_NUMERICS_API unsigned td_numerics_look(const td_gradient *gradient);

#define TD_NUMERICS_FEW 4
typedef struct td_numerics_list {
  td_numerics_seen *at, few[TD_NUMERICS_FEW]; /* (owned if it is not few) */
  uint32_t n;
} td_numerics_list;

/* One evaluation of a node. It lives on the stack of the thread that evaluates; evaluations nest.
 */
typedef struct td_numerics_frame {
  struct td_numerics_frame *outer;
  uint32_t graph_task, node;
  td_numerics_list inputs, outputs;
  td_numerics_seen stored; /* in .grad, before AccumulateGrad adds to it */
  bool has_birth;          /* its function made a value that is not finite */
} td_numerics_frame;

/* td_numerics_enter begins an evaluation: these gradients have come to the node's inputs. It notes
 * what sums made, or hooks of the senders. is_root: the caller of backward gave the inputs.
 * td_numerics_leave ends the evaluation, after an error too. */
TD_NUMERICS_API void td_numerics_enter(td_numerics_frame *frame, uint32_t graph_task, uint32_t node,
                                       bool is_root, uint32_t n_inputs, const td_gradient *inputs);
TD_NUMERICS_API void td_numerics_leave(td_numerics_frame *frame);

/* td_numerics_is_evaluating returns true between td_numerics_enter and td_numerics_leave of the
 * calling thread. All functions below but the last act on this thread's current evaluation; they do
 * nothing outside one. */
TD_NUMERICS_API bool td_numerics_is_evaluating(void);

/* td_numerics_apply_begin: the engine calls the node's function with these inputs, after the pre
 * hooks. is_leaf: the node is an AccumulateGrad. */
TD_NUMERICS_API void td_numerics_apply_begin(bool is_leaf, uint32_t n_inputs,
                                             const td_gradient *inputs);

/* td_numerics_node_with_found returns the node, if what came to its inputs is not all finite; else
 * TD_NONE. */
TD_NUMERICS_API uint32_t td_numerics_node_with_found(void);

/* td_numerics_apply_end: the node's function returned these outputs, and post hooks will see them.
 * is_graph_root: the outputs are what the program called backward with. Returns true if the
 * function made a value that is not finite: then the observer passes what the node saved. */
TD_NUMERICS_API bool td_numerics_apply_end(bool is_graph_root, bool has_post_hooks,
                                           uint32_t n_outputs, const td_gradient *outputs,
                                           const td_gradient_edge *edges);

/* td_numerics_saved puts on the tape what is in a tensor that a node saved. It needs no evaluation.
 */
TD_NUMERICS_API void td_numerics_saved(uint32_t node, uint32_t graph_task, uint32_t number,
                                       const td_gradient *saved);

/* td_numerics_added: the node has added to the sum that waits for another node, by itself, where
 * this output would go. `before` is what td_numerics_look found in the sum earlier. */
TD_NUMERICS_API void td_numerics_added(uint32_t output_nr, unsigned before, const td_gradient *sum,
                                       const td_gradient_edge *edge);

/* td_numerics_hook_end: a hook returned these gradients. They are the node's outputs if is_post,
 * and its inputs otherwise. `name` is an interned string. */
TD_NUMERICS_API void td_numerics_hook_end(bool is_post, uint32_t name, uint32_t n,
                                          const td_gradient *gradients);

/* td_numerics_store_begin: AccumulateGrad is about to add to what .grad holds.
 * td_numerics_store_end: AccumulateGrad has done so. Identity NULL: .grad is None. */
TD_NUMERICS_API void td_numerics_store_begin(const td_gradient *stored);
TD_NUMERICS_API void td_numerics_store_end(const td_gradient *stored);

/* td_numerics_end_task forgets what an error left of a graph task, which is over. */
TD_NUMERICS_API void td_numerics_end_task(uint32_t graph_task);

#ifdef __cplusplus
}
#endif
