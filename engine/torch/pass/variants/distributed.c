/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/variants/distributed.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/accumulate_grad.h"
#include "engine/torch/graph/function.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/graph/graph_root.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/pass/completion.h"
#include "engine/torch/pass/dependencies.h"
#include "engine/torch/pass/exec_info.h"
#include "engine/torch/pass/variants/distributed_run.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"
#include "engine/torch/tensor/sparse.h"

#include <inttypes.h>

/* Takes the place of AccumulateGrad: it runs that node's hooks, and adds to the context instead
 * of .grad. */
typedef struct accumulate_hook {
  td_hook hook;
  td_dist_context *context; /* (owned reference) */
} accumulate_hook;

static td_status
accumulate_call(td_hook *hook, const td_hook_call *call, td_error *error) {
  accumulate_hook *self = (accumulate_hook *)hook;
  td_status status = TD_OK;
  if (td_node_has_hooks(call->node, TD_HOOKS(pre)))
    status = td_node_call_hooks(TD_HOOKS(pre), call, NULL, NULL, error);
  td_tensor *gradient = call->gradients[0];
  if (status || !gradient) return status;
  td_tensor_ref(gradient); /* as PyTorch's call holds it */
  status =
      td_dist_accumulate(self->context, td_accumulate_grad_variable(call->node), gradient, error);
  if (!status && td_node_has_hooks(call->node, TD_HOOKS(post))) {
    td_hook_call after = {.node = call->node, .inputs = &gradient, .n_inputs = 1};
    status = td_node_call_hooks(TD_HOOKS(post), &after, NULL, NULL, error);
  }
  td_tensor_unref(gradient);
  return status;
}

static void
accumulate_free(td_hook *hook) {
  td_dist_context_unref(((accumulate_hook *)hook)->context);
  free(hook);
}

static td_hook *
accumulate_hook_new(td_dist_context *context) {
  accumulate_hook *self = TD_NEW(accumulate_hook);
  td_hook_init(&self->hook, accumulate_call, accumulate_free, td_dup_string("distributed"));
  self->context = td_dist_context_ref(context);
  return &self->hook;
}

/* preparation */

/* The visited nodes in the order of their distance, and the ends of the graph. */
typedef struct search {
  td_node **nodes; /* (owned) */
  size_t n, capacity;
  td_edge *ends; /* (owned; borrowed nodes) */
  size_t n_ends, ends_capacity;
} search;

static td_status
see(search *self, td_edge edge, td_error *error) {
  TD_GROW(self->nodes, self->n, self->capacity);
  self->nodes[self->n++] = edge.node;
  if (edge.node->n_outputs > 0) return TD_OK;
  if (!td_accumulate_grad_variable(edge.node) && !td_dist_is_receive(edge.node))
    return td_error_set(error, TD_AUTOGRAD,
                        "dynamic_cast<AccumulateGrad*>(nextFn) || "
                        "dynamic_cast<RecvRpcBackward*>(nextFn) INTERNAL ASSERT FAILED");
  TD_GROW(self->ends, self->n_ends, self->ends_capacity);
  self->ends[self->n_ends++] = edge;
  return TD_OK;
}

/* Breadth first: counts edges as td_graph_task_compute_dependencies does. */
static td_status
count_edges(td_graph_task *graph_task, search *self, td_error *error) {
  td_status status = TD_OK;
  for (size_t i = 0; i < self->n && !status; i++)
    for (uint32_t k = 0; k < self->nodes[i]->n_outputs && !status; k++) {
      td_edge edge = self->nodes[i]->next_edges[k];
      if (!edge.node) continue;
      bool is_new, was_seen;
      td_node_entry *entry = td_node_table_add(&graph_task->nodes, edge.node, &is_new);
      was_seen = entry->in_graph;
      entry->dependencies++;
      entry->has_dependencies = entry->in_graph = true;
      if (!was_seen) status = see(self, edge, error);
    }
  return status;
}

static td_node *
join_roots(td_dist_context *context) {
  td_edge *edges = TD_NEW_N(td_edge, context->n_sends + 1);
  uint32_t n = 0;
  for (size_t i = 0; i < context->n_sends; i++)
    edges[n++] = (td_edge){context->sends[i], 0};
  edges[n++] = (td_edge){context->root, 0};
  td_tensor **nothing = TD_NEW_N(td_tensor *, n);
  td_node *dummy = td_graph_root_new(edges, nothing, n);
  free(nothing);
  free(edges);
  return dummy;
}

/* Captures the gradients of leaves into the context; receive functions run. */
static void
choose_what_runs(td_dist_context *context, const search *found) {
  td_graph_task *graph_task = context->graph_task;
  bool is_new;
  context->dummy = join_roots(context);
  td_node_table_add(&graph_task->nodes, context->dummy, &is_new);
  td_graph_task_set_wanted(graph_task, (uint32_t)found->n_ends);
  td_graph_task_init_to_execute(graph_task, context->dummy, found->ends, (uint32_t)found->n_ends,
                                0);
  for (size_t i = 0; i < found->n_ends; i++) {
    td_node_entry *entry = td_node_table_find(&graph_task->nodes, found->ends[i].node);
    entry->needed |= td_dist_is_receive(entry->node);
    for (td_capture *capture = entry->captures; capture && !entry->needed; capture = capture->next)
      if (!capture->hook) capture->hook = accumulate_hook_new(context);
  }
}

static void
emit_begin(const td_dist_context *context, bool retain_graph) {
  td_node_announce(context->root);
  TD_EMIT(graph_task_begin, .graph_task = context->graph_task->handle.id, .owner = TD_NONE,
          .keep_graph = retain_graph, .root = td_node_id(context->root),
          .n_roots = context->root->n_outputs);
  td_graph_task_emit_dependencies(context->graph_task);
}

static td_status
prepare_locked(td_dist_context *context, td_node *root, bool retain_graph, td_error *error) {
  td_execute_options options = {.keep_graph = retain_graph};
  td_ready_queue *queue;
  td_status status = td_dist_global_queue(&queue, error);
  if (status) return status;
  td_graph_task *graph_task = td_graph_task_new(&options, 0, queue);
  graph_task->owner = TD_CPU;
  graph_task->exit_on_error = true;
  context->graph_task = graph_task;
  context->root = td_node_ref(root);
  search found = {0};
  for (size_t i = 0; i <= context->n_sends; i++) {
    bool is_new;
    td_node *begin = i == 0 ? root : context->sends[i - 1];
    td_node_table_add(&graph_task->nodes, begin, &is_new);
    TD_GROW(found.nodes, found.n, found.capacity);
    found.nodes[found.n++] = begin;
    if (i > 0) td_graph_task_handle_count_push(&graph_task->handle);
  }
  status = count_edges(graph_task, &found, error);
  if (!status) emit_begin(context, retain_graph);
  if (!status && found.n_ends > 0) choose_what_runs(context, &found);
  free(found.nodes);
  free(found.ends);
  return status;
}

static void
forget_locked(td_dist_context *context) {
  td_graph_task_unref(context->graph_task);
  td_node_unref(context->root);
  context->graph_task = NULL;
  context->root = NULL;
}

/* Once for each pass, by whoever comes first. The caller owns *graph_task: the pass may fail and
 * end on another thread meanwhile. */
static td_status
prepare(td_dist_context *context, td_node *root, bool retain_graph, td_graph_task **graph_task,
        td_error *error) {
  td_status status = TD_OK;
  pthread_mutex_lock(&context->mutex);
  if (context->is_released)
    status = td_error_set(error, TD_AUTOGRAD, "Could not find autograd context with id: %" PRId64,
                          context->id);
  else if (!context->graph_task) {
    status = prepare_locked(context, root, retain_graph, error);
    if (status && context->graph_task) forget_locked(context);
  }
  if (!status) *graph_task = td_graph_task_ref(context->graph_task);
  pthread_mutex_unlock(&context->mutex);
  return status;
}

static td_status
check_roots(td_tensor *const *roots, uint32_t n_roots, td_error *error) {
  if (n_roots == 0)
    return td_error_set(error, TD_AUTOGRAD, "No tensors provided for gradient computation.");
  for (uint32_t i = 0; i < n_roots; i++) {
    if (!td_requires_grad(roots[i]))
      return td_error_set(error, TD_AUTOGRAD, "requires_grad not set on root");
    if (td_tensor_n_elements(roots[i]) != 1)
      return td_error_set(error, TD_AUTOGRAD, " is not a scalar, all roots need to be scalar");
    if (td_is_leaf(roots[i]))
      return td_error_set(error, TD_AUTOGRAD, " does not have a valid gradient function.");
  }
  return TD_OK;
}

static td_status
make_root(td_tensor *const *roots, uint32_t n, td_node **root, td_error *error) {
  td_edge *edges = TD_NEW_N(td_edge, n);
  td_tensor **ones = TD_NEW_N(td_tensor *, n);
  td_status status = TD_OK;
  for (uint32_t i = 0; i < n && !status; i++) {
    edges[i] = td_gradient_edge(roots[i]);
    status = td_tensor_new_like(roots[i], &ones[i], error);
    if (!status) td_tensor_set(ones[i], 0, 1);
  }
  if (!status) *root = td_graph_root_new(edges, ones, n);
  for (uint32_t i = 0; i < n; i++) {
    td_node_unref(edges[i].node);
    td_tensor_unref(ones[i]);
  }
  free(ones);
  free(edges);
  return status;
}

/* The error stays with the graph task, because other deliveries report it too. */
static td_status
outcome(const td_dist_context *context, td_graph_task *graph_task, td_error *error) {
  if (!td_graph_task_is_done(graph_task) || !graph_task->result) return TD_OK;
  return td_error_set(error, graph_task->result, "Error on Node %" PRId64 ": %s",
                      context->worker_id, td_error_text(&graph_task->error));
}

td_status
td_dist_execute(td_dist_context *context, td_tensor *const *roots, uint32_t n_roots,
                bool retain_graph, td_error *error) {
  td_node *root = NULL;
  td_graph_task *graph_task;
  td_status status = check_roots(roots, n_roots, error);
  if (!status) status = make_root(roots, n_roots, &root, error);
  if (status) return status;
  status = prepare(context, root, retain_graph, &graph_task, error);
  if (!status) {
    td_dist_run(graph_task, root, NULL, true);
    td_graph_task_wait(graph_task);
    status = outcome(context, graph_task, error);
    td_graph_task_unref(graph_task);
  }
  td_node_unref(root);
  return status;
}

td_status
td_dist_execute_send(td_dist_context *context, td_node *send, td_tensor *const *gradients,
                     bool retain_graph, td_error *error) {
  td_node *nothing = td_graph_root_new(NULL, NULL, 0);
  td_graph_task *graph_task;
  td_status status = prepare(context, nothing, retain_graph, &graph_task, error);
  td_node_unref(nothing);
  if (status) return status;
  td_input_buffer *buffer = td_input_buffer_new(send->n_inputs);
  for (uint32_t i = 0; i < send->n_inputs; i++)
    buffer->slots[i] = td_input_slot_new(td_tensor_ref(gradients[i]), 0, TD_NO_CONTRIBUTOR);
  td_dist_run(graph_task, send, buffer, false);
  status = outcome(context, graph_task, error);
  td_graph_task_unref(graph_task);
  return status;
}

/* a worker that sends to itself */

typedef struct loop {
  td_dist_context *context; /* (owned reference) */
  td_node *send;            /* (owned reference) */
} loop;

static void
loop_free(void *data) {
  loop *self = data;
  td_node_unref(self->send);
  td_dist_context_unref(self->context);
  free(self);
}

static td_status
zeros_for(const td_input_metadata *metadata, td_tensor **zeros, td_error *error) {
  return td_tensor_new(metadata->dtype, metadata->device, metadata->n_dims, metadata->sizes, zeros,
                       error);
}

static td_status
deliver_cb(void *data, td_tensor *const *gradients, uint32_t n, td_error *error) {
  loop *self = data;
  td_status status = TD_OK;
  td_tensor **defined = TD_NEW_N(td_tensor *, n);
  for (uint32_t i = 0; i < n && !status; i++)
    if (gradients[i])
      defined[i] = td_tensor_ref(gradients[i]);
    else
      status = zeros_for(&self->send->input_metadata[i], &defined[i], error);
  if (!status) status = td_dist_execute_send(self->context, self->send, defined, false, error);
  for (uint32_t i = 0; i < n; i++)
    td_tensor_unref(defined[i]);
  free(defined);
  return status;
}

void
td_dist_loop_back(td_dist_context *context, td_tensor *const *sent, td_tensor *const *received,
                  uint32_t n) {
  loop *self = TD_NEW(loop);
  *self = (loop){td_dist_context_ref(context), td_dist_send_new(context, sent, n)};
  td_node_unref(td_dist_receive_new(received, n, deliver_cb, self, loop_free));
}
