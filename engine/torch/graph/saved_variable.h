/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Saved variable: a tensor that a node keeps for its backward function, in the version it had. A
 * node keeps operands and leaves themselves. It keeps a result as an alias without history, so that
 * the node and its own output do not hold each other. If saved-tensor hooks are in force, it keeps
 * what the pack hook made of the tensor instead.
 *
 * Under the node's mutex, except while the node is being made. */
#pragma once

#include "engine/torch/graph/saved_hooks.h"
#include "engine/torch/graph/weak_tensor.h"

/* What hooks made of a saved tensor, with what it takes to give it back its history. */
typedef struct td_packed_variable td_packed_variable;

typedef struct td_saved_variable {
  union {
    td_tensor *data;            /* (owned) */
    td_packed_variable *packed; /* (owned), if is_packed */
  };                            /* NULL once released */
  uint32_t version;             /* of the tensor when it was saved */
  uint16_t output_nr;           /* of the tensor, if the alias does not know it */
  bool is_output : 1;
  bool was_defined : 1;
  bool is_original : 1; /* data is the tensor itself */
  bool is_leaf : 1;
  bool requires_grad : 1;
  bool is_packed : 1;
  uint8_t number; /* which of its node's it is */
  /* (owned reference) of what a write into a view saved as its result, or NULL. It is the view's
   * new grad_fn, and what is saved is an output of that as long as it lives. */
  td_weak_node *on_view;
  td_weak_tensor *written; /* (owned reference) what td_saved_variable_written let go of, or NULL */
} td_saved_variable;

/* td_saved_variable_init saves a tensor (NULL: none) in a place that is zero but for its number.
 * Failures are left pending (pending.h): inference tensors cannot be saved, and pack hooks may
 * fail. */
void td_saved_variable_init(td_saved_variable *saved, td_tensor *tensor, bool is_output);

/* td_saved_variable_unpack writes a new reference, or NULL if NULL was saved. An output of `node`
 * gets its history back. TD_AUTOGRAD with PyTorch's texts: "Trying to backward through the graph a
 * second time ..." after release; "one of the variables needed for gradient computation has been
 * modified by an inplace operation: ..." if the version has changed. The latter emits
 * version_conflict, and hooks switch it off. td_saved_variable_get is for a look from outside: it
 * gives all the history, whatever the grad mode. */
td_status td_saved_variable_unpack(td_saved_variable *saved, td_node *node, td_tensor **out,
                                   td_error *error);
td_status td_saved_variable_get(td_saved_variable *saved, td_node *node, td_tensor **out,
                                td_error *error);
void td_saved_variable_release(td_saved_variable *saved);

/* td_saved_variable_check is the error that an unpack would end in, without one. Hooks are not
 * asked. */
td_status td_saved_variable_check(const td_saved_variable *saved, const td_node *node,
                                  td_error *error);

/* td_saved_variable_written is for an original tensor that the node's own operation has just
 * written: what was saved is no more. It lets go of the tensor, whose new node this is. Errors
 * still name what that tensor is by then. */
void td_saved_variable_written(td_saved_variable *saved);

/* td_saved_variable_refuse_released is the error of whoever needs what was released. */
td_status td_saved_variable_refuse_released(td_error *error);

/* td_saved_variable_register gives one saved tensor hooks of its own (takes a reference) and calls
 * their pack. TD_AUTOGRAD if it has hooks already, was released, or is undefined. */
td_status td_saved_variable_register(td_saved_variable *saved, td_saved_hooks *hooks,
                                     td_error *error);

/* td_saved_variable_announce emits saved_tensor, if the node is announced and the variable is
 * defined.
 */
void td_saved_variable_announce(const td_saved_variable *saved, const td_node *node);
