/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an operation needs to put itself into the graph. The pattern of every op in
 * engine/torch/ops:
 *
 *   td_status td_op_exp(td_tensor *self, td_tensor **out, td_error *error) {
 *     td_tensor *result;
 *     td_status status = unary_kernel(self, ..., &result, error);
 *     if (status) return status;
 *     exp_backward *node = td_function_begin(&exp_class, sizeof *node, (td_tensor *[]){self}, 1);
 *     if (node) {
 *       td_function_end(&node->node, &result, 1);
 *       td_saved_variable_init(&node->result, result, true);
 *     }
 *     *out = result;
 *     return TD_OK;
 *   }
 *
 * Backward formulas are compositions of td_op_* wherever that is not a waste: they then record a
 * graph of their own under create_graph. */
#pragma once

#include "engine/torch/graph/saved_variable.h"
#include "engine/torch/graph/variable.h"

/* td_node_new makes a node of `size` bytes (>= sizeof(td_node), zeroed) with the calling thread's
 * next sequence number. It has one edge for each of `inputs` (the forward inputs): to the input's
 * grad_fn or AccumulateGrad. The edge leads nowhere if the input is NULL or requires no grad. */
td_node *td_node_new(const td_node_class *klass, size_t size, td_tensor *const *inputs,
                     uint32_t n_inputs);

/* td_node_add_input makes `output` (a forward output, without history) the node's next input: notes
 * its metadata and sets its grad_fn and output_nr. */
void td_node_add_input(td_node *node, td_tensor *output);

/* td_function_begin returns a new node as td_node_new, if grad mode is on and any of the inputs
 * (NULLs allowed) requires grad. Else it returns NULL: the operation leaves no trace and takes no
 * sequence number. */
void *td_function_begin(const td_node_class *klass, size_t size, td_tensor *const *inputs,
                        uint32_t n_inputs);

/* td_function_end makes the results the node's inputs; NULL and integer results are undefined
 * inputs. It announces the node and drops the caller's reference, because the results hold the node
 * now. */
void td_function_end(td_node *node, td_tensor *const *results, uint32_t n_results);
