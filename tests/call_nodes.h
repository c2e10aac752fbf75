/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Graphs of nodes that call a function of the test and pass ones on, for tests of the engine's
 * threads: what matters is who runs them, when, and after whom. */
#pragma once

#include "engine/autograd/engine.h"
#include "engine/autograd/graph_task.h"

typedef struct call_node call_node;
typedef td_status (*call_function)(call_node *self, td_error *error);

struct call_node {
  td_node node;
  call_function run; /* or NULL */
  void *data;
};

/* call_node_new makes a node on a device with room for n_edges; call_node_connect points its edge i
 * at another node, whose reference stays the caller's: from the bottom up. */
call_node *call_node_new(td_device device, uint32_t n_edges, call_function run, void *data);
void call_node_connect(call_node *from, uint32_t i, call_node *to);
void call_node_unref(call_node *self);

/* call_backward runs a pass from a node. */
td_status call_backward(call_node *root, td_error *error);

/* call_wait waits until a flag that another thread sets is set; aborts the test after 20 seconds.
 */
void call_wait(_Atomic bool *flag);

/* call_threads counts the process's threads whose name starts so. */
unsigned call_threads(const char *prefix);
