/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Saved variable: a tensor that a node keeps for its backward function, in the version it had. What
 * the operation was given, and leaves, are kept themselves; a result is kept as an alias without
 * history, so that the node and its own output do not hold each other. Where saved-tensor hooks are
 * in force, what the pack hook made of the tensor is kept instead.
 *
 * Under the node's mutex, except while the node is being made. */
#pragma once

#include "engine/graph/saved_hooks.h"

/* What hooks made of a saved tensor, with what it takes to give it back its history. */
typedef struct td_packed_variable td_packed_variable;

typedef struct td_saved_variable {
  union {
    td_tensor *data;            /* (owned) */
    td_packed_variable *packed; /* (owned), if is_packed */
  };                            /* NULL once released */
  uint32_t version;             /* of the tensor when it was saved */
  uint16_t output_nr;           /* of the tensor, where the alias does not know it */
  bool is_output : 1;
  bool was_defined : 1;
  bool is_original : 1; /* data is the tensor itself */
  bool is_leaf : 1;
  bool requires_grad : 1;
  bool is_packed : 1;
  bool is_on_view : 1; /* the result of an operation in place on a view, which is not the node's own
                          output: see td_saved_variable_set_maker */
  uint8_t number;      /* which of its node's it is */
} td_saved_variable;

/* td_saved_variable_init saves a tensor (NULL: none) in a place that is zero but for its number.
 * Failures are left pending (pending.h): inference tensors cannot be saved, and pack hooks may
 * fail. */
void td_saved_variable_init(td_saved_variable *saved, td_tensor *tensor, bool is_output);

/* td_saved_variable_unpack writes a new reference (NULL where NULL was saved), with its history
 * re-attached for an output of `node`. TD_AUTOGRAD with PyTorch's texts: "Trying to backward
 * through the graph a second time ..." after release; "one of the variables needed for gradient
 * computation has been modified by an inplace operation: ..." where the version is another now (and
 * emits version_conflict), unless there are hooks. td_saved_variable_get is the same for somebody
 * who looks from outside: with all its history, whatever the grad mode. */
td_status td_saved_variable_unpack(td_saved_variable *saved, td_node *node, td_tensor **out,
                                   td_error *error);
td_status td_saved_variable_get(td_saved_variable *saved, td_node *node, td_tensor **out,
                                td_error *error);
void td_saved_variable_release(td_saved_variable *saved);

/* td_saved_variable_set_maker says whose output (0) results on views are that the calling thread
 * unpacks from now on: of the view as the function within a CopySlices left it. Returns the one
 * before; NULL: unknown, the node itself. (borrowed) */
td_node *td_saved_variable_set_maker(td_node *maker);

/* td_saved_variable_refuse_released is the error of whoever needs what was released. */
td_status td_saved_variable_refuse_released(td_error *error);

/* td_saved_variable_register gives one saved tensor hooks of its own (takes a reference) and calls
 * their pack. TD_AUTOGRAD where it has some already, was released, or is none. */
td_status td_saved_variable_register(td_saved_variable *saved, td_saved_hooks *hooks,
                                     td_error *error);

/* td_saved_variable_announce emits saved_tensor, where something is saved by a node that is
 * announced.
 */
void td_saved_variable_announce(const td_saved_variable *saved, const td_node *node);
