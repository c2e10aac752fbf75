/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two ways to make operations in place. With both, the tensor keeps its identity and the place of
 * its elements, and its version is counted up. If the write is tracked, the tensor's history
 * becomes the operation's. A write is tracked if grad mode is on and an operand requires grad.
 * Private to engine/torch/ops and engine/torch/binding. */
#pragma once

#include "engine/torch/graph/in_place.h"
#include "engine/torch/ops/base/op.h"

/* A write that an operation does itself, between _begin and _end. */
typedef struct td_write {
  td_tensor *self;  /* (borrowed) */
  const char *name; /* a literal: "zero_" */
  td_node *node;    /* (owned reference) of the class, to be filled in; NULL if not tracked */
} td_write;

/* td_write_begin checks that operands[0] may be written into (td_check_in_place) and makes a node
 * with an edge to each operand. td_write_end gives the tensor its new version and history.
 * td_write_check is for a check in between: if its status is a failure, it drops the node. */
td_status td_write_begin(td_write *write, const td_op_class *klass, size_t size, const char *name,
                         td_tensor *const *operands, uint32_t n_operands, td_error *error);
td_status td_write_check(td_write *write, td_status status);
td_status td_write_end(td_write *write, td_error *error);

/* Makes an operation in place of one that is not. The caller applies the operation to `alias`
 * instead of self. Its result and history become self's. The result has self's sizes, and a dtype
 * that goes into self's. What the operation saved of the alias gets elements of its own. What it
 * saved of the result is self. */
typedef struct td_in_place {
  td_tensor *self;  /* (borrowed) */
  td_tensor *alias; /* (owned reference) */
  const char *name;
  td_node *remade; /* (owned reference) self's node if another write had changed the view; NULL */
  td_overlap overlap; /* what self shares with other operands */
  td_overlap allowed; /* how much it may: TD_OVERLAP_FULL, unless the caller writes another */
} td_in_place;

/* td_in_place_begin checks; on success td_in_place_end must follow. td_in_place_end takes what the
 * operation returned (status, result, *error), and the references. */
td_status td_in_place_begin(td_in_place *now, const char *name, td_tensor *const *operands,
                            uint32_t n_operands, td_error *error);
td_status td_in_place_end(td_in_place *now, td_status status, td_tensor *result, td_error *error);

/* td_in_place_view_end is the same for an operation whose result is a view of the alias. Self gets
 * the view's sizes and strides. Its node has another name; klass is room for its class, for ever.
 * TD_UNSUPPORTED for a tracked write into a view. */
td_status td_in_place_view_end(td_in_place *now, td_status status, td_tensor *view,
                               td_op_class *klass, const char *node_name, td_error *error);
