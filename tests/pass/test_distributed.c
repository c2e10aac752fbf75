/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Distributed passes on one worker, the network played by the test. */
#include "engine/torch/device/device.h"
#include "engine/torch/graph/accumulate_grad.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/graph/hooks.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/variants/distributed.h"
#include "engine/torch/pass/variants/distributed_run.h"
#include "engine/torch/tensor/factories.h"
#include "tests/fixtures/call_nodes.h"

#include <glib.h>

static td_tensor *
leaf(double value) {
  td_tensor *tensor = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, value);
  g_assert_cmpint(td_set_requires_grad(tensor, true, NULL), ==, TD_OK);
  return tensor;
}

static void
finish(td_dist_context *context) {
  td_dist_context_release(context);
  td_dist_context_unref(context);
}

static td_tensor *
product(td_tensor *a, td_tensor *b) {
  td_tensor *out = NULL;
  g_assert_cmpint(td_op_mul(a, b, &out, NULL), ==, TD_OK);
  return out;
}

static void
assert_gradient(td_dist_context *context, td_tensor *tensor, double wanted) {
  td_tensor *sum = td_dist_gradient(context, tensor);
  g_assert_nonnull(sum);
  g_assert_cmpfloat(td_tensor_get(sum, 0), ==, wanted);
  td_tensor_unref(sum);
  g_assert_null(td_grad_get(tensor));
}

/* What came to a receive function. */
typedef struct delivery {
  double value;
  pthread_t thread;
  _Atomic bool came;
} delivery;

static td_status
deliver_cb(void *data, td_tensor *const *gradients, uint32_t n, td_error *error) {
  delivery *self = data;
  self->value = td_tensor_get(gradients[0], 0);
  self->thread = pthread_self();
  g_assert_false(atomic_load(&self->came));
  atomic_store(&self->came, true);
  return TD_OK;
}

/* U-04: loss = x * r, where r came from another worker. */
static void
test_root_and_receive(void) {
  td_dist_context *context = td_dist_context_new(0, 0);
  delivery delivery = {0};
  td_tensor *x = leaf(3), *received = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 5);
  td_node *receive = td_dist_receive_new(&received, 1, deliver_cb, &delivery, NULL);
  td_tensor *loss = product(x, received);
  g_assert_cmpint(td_dist_execute(context, &loss, 1, false, NULL), ==, TD_OK);
  g_assert_true(atomic_load(&delivery.came));
  g_assert_cmpfloat(delivery.value, ==, 3);
  assert_gradient(context, x, 5);
  /* U-01 */
  g_assert_true(context->graph_task->exit_on_error);
  g_assert_cmpint(context->graph_task->owner, ==, TD_CPU);
  td_ready_queue *queue;
  g_assert_cmpint(td_dist_global_queue(&queue, NULL), ==, TD_OK);
  g_assert_true(context->graph_task->cpu_ready_queue == queue);
  finish(context);
  td_node_unref(receive);
  td_tensor_unref(loss);
  td_tensor_unref(received);
  td_tensor_unref(x);
}

typedef struct call {
  td_dist_context *context;
  td_tensor *loss;
  _Atomic bool is_over;
} call;

static void *
execute_cb(void *data) {
  call *self = data;
  g_assert_cmpint(td_dist_execute(self->context, &self->loss, 1, true, NULL), ==, TD_OK);
  atomic_store(&self->is_over, true);
  return NULL;
}

/* U-02: the pass waits for what a send function will get, which was counted beforehand. */
static void
test_send_is_waited_for(void) {
  td_dist_context *context = td_dist_context_new(0, 0);
  delivery delivery = {0};
  td_tensor *x = leaf(3), *received = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 5);
  td_node *receive = td_dist_receive_new(&received, 1, deliver_cb, &delivery, NULL);
  td_tensor *sent = product(x, x), *loss = product(x, received);
  td_node *send = td_dist_send_new(context, &sent, 1);
  call call = {.context = context, .loss = loss};
  GThread *thread = g_thread_new("execute", execute_cb, &call);
  call_wait(&delivery.came);
  for (int i = 0; i < 20000 && atomic_load(&context->graph_task->handle.outstanding) != 1; i++)
    g_usleep(1000);
  g_assert_cmpuint(context->graph_task->handle.outstanding, ==, 1);
  g_assert_false(atomic_load(&call.is_over));
  g_assert_null(td_dist_gradient(context, x));
  td_tensor *gradient = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 10);
  g_assert_cmpint(td_dist_execute_send(context, send, &gradient, true, NULL), ==, TD_OK);
  g_thread_join(thread);
  g_assert_cmpuint(context->graph_task->handle.outstanding, ==, 0);
  assert_gradient(context, x, 5 + 60);
  finish(context);
  td_node_unref(send);
  td_node_unref(receive);
  td_tensor *tensors[] = {gradient, loss, sent, received, x};
  for (size_t i = 0; i < G_N_ELEMENTS(tensors); i++)
    td_tensor_unref(tensors[i]);
}

/* U-03 */
static void
test_leaves(void) {
  td_dist_context *context = td_dist_context_new(0, 0);
  td_tensor *value = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1);
  call_node *above = call_node_new(TD_CPU, 1, NULL, NULL),
            *end = call_node_new(TD_CPU, 0, NULL, NULL);
  call_node_connect(above, 0, end);
  td_set_grad_fn(value, &above->node, 0);
  td_error error = {0};
  g_assert_cmpint(td_dist_execute(context, &value, 1, false, &error), ==, TD_AUTOGRAD);
  g_assert_nonnull(
      strstr(td_error_text(&error), "RecvRpcBackward*>(nextFn) INTERNAL ASSERT FAILED"));
  td_error_clear(&error);
  finish(context);
  td_tensor_unref(value);
  call_node_unref(above);
  call_node_unref(end);
}

typedef struct counting_hook {
  td_hook hook;
  int n;
} counting_hook;

static td_status
double_cb(td_hook *hook, const td_hook_call *call, td_error *error) {
  ((counting_hook *)hook)->n++;
  td_tensor *twice =
      td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 2 * td_tensor_get(call->gradients[0], 0));
  td_tensor_unref(call->gradients[0]);
  call->gradients[0] = twice;
  return TD_OK;
}

static td_status
see_cb(td_hook *hook, const td_hook_call *call, td_error *error) {
  ((counting_hook *)hook)->n++;
  g_assert_cmpuint(call->n_inputs, ==, 1);
  g_assert_cmpfloat(td_tensor_get(call->inputs[0], 0), ==, 8);
  return TD_OK;
}

static void
no_free(td_hook *hook) {
}

/* U-05: hooks of the leaf's AccumulateGrad see the gradient before and after. */
static void
test_leaf_hooks(void) {
  td_dist_context *context = td_dist_context_new(0, 0);
  td_tensor *x = leaf(3), *four = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 4),
            *loss = product(x, four);
  td_node *accumulate = td_grad_accumulator_find(x);
  counting_hook before = {0}, after = {0};
  td_hook_init(&before.hook, double_cb, no_free, NULL);
  td_hook_init(&after.hook, see_cb, no_free, NULL);
  td_node_add_hook(accumulate, &before.hook, TD_hook_kind_pre, 0);
  td_node_add_hook(accumulate, &after.hook, TD_hook_kind_post, 0);
  g_assert_cmpint(td_dist_execute(context, &loss, 1, false, NULL), ==, TD_OK);
  g_assert_cmpint(before.n, ==, 1);
  g_assert_cmpint(after.n, ==, 1);
  assert_gradient(context, x, 8);
  finish(context);
  td_node_unref(accumulate);
  td_hook_unref(&before.hook);
  td_hook_unref(&after.hook);
  td_tensor_unref(loss);
  td_tensor_unref(four);
  td_tensor_unref(x);
}

typedef struct seen_queue {
  uint32_t id;
  int n;
} seen_queue;

static td_status
note_queue(call_node *self, td_error *error) {
  seen_queue *seen = self->data;
  seen->id = td_thread_self.call.queue->id;
  seen->n++;
  g_assert_true(td_thread_self.call.queue != td_graph_task_now()->cpu_ready_queue);
  return TD_OK;
}

static td_status
fail(call_node *self, td_error *error) {
  return td_error_set(error, TD_AUTOGRAD, "Simulate error");
}

/* A node above a leaf, and a value whose history it is. */
static td_tensor *
value_of(call_node *node, td_tensor *tensor) {
  td_edge edge = td_gradient_edge(tensor);
  td_node_set_edge(&node->node, 0, edge);
  td_tensor *value = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1);
  td_set_grad_fn(value, &node->node, 0);
  return value;
}

/* U-06, U-09: each call has a queue; an error ends it at once. */
static void
test_queue_of_each_call(void) {
  td_dist_context *context = td_dist_context_new(0, 7);
  seen_queue seen[2] = {0}, never = {0};
  td_tensor *x = leaf(1), *values[3];
  call_node *nodes[] = {call_node_new(TD_CPU, 1, note_queue, &seen[0]),
                        call_node_new(TD_CPU, 1, note_queue, &seen[1]),
                        call_node_new(TD_CPU, 1, note_queue, &never)};
  call_node *fails = call_node_new(TD_CPU, 1, fail, NULL);
  for (int i = 0; i < 3; i++)
    values[i] = value_of(nodes[i], x);
  td_tensor *failing = value_of(fails, x), *both[] = {values[2], failing};
  td_node *sends[] = {td_dist_send_new(context, &values[0], 1),
                      td_dist_send_new(context, &values[1], 1), td_dist_send_new(context, both, 2)};
  td_tensor *one = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1), *ones[] = {one, one};
  for (int i = 0; i < 2; i++)
    g_assert_cmpint(td_dist_execute_send(context, sends[i], &one, false, NULL), ==, TD_OK);
  g_assert_cmpint(seen[0].n + seen[1].n, ==, 2);
  g_assert_cmpuint(seen[0].id, !=, seen[1].id);
  g_assert_false(td_graph_task_is_done(context->graph_task));
  td_error error = {0};
  g_assert_cmpint(td_dist_execute_send(context, sends[2], ones, false, &error), ==, TD_AUTOGRAD);
  g_assert_cmpstr(td_error_text(&error), ==, "Error on Node 7: Simulate error");
  g_assert_cmpint(never.n, ==, 0);
  /* J-15: over, whatever is outstanding. */
  g_assert_cmpuint(context->graph_task->handle.outstanding, >, 0);
  g_assert_true(td_graph_task_is_completed(context->graph_task));
  g_assert_true(td_graph_task_is_done(context->graph_task));
  td_error_clear(&error);
  finish(context);
  for (int i = 0; i < 3; i++) {
    td_node_unref(sends[i]);
    td_tensor_unref(values[i]);
    call_node_unref(nodes[i]);
  }
  td_tensor_unref(failing);
  call_node_unref(fails);
  td_tensor_unref(one);
  td_tensor_unref(x);
}

/* U-07: from a device back to the CPU: not on the caller, which waits, nor on the device's thread.
 */
static void
test_device_to_cpu(void) {
  td_dist_context *context = td_dist_context_new(0, 0);
  delivery delivery = {0};
  td_tensor *received = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 5);
  td_node *receive = td_dist_receive_new(&received, 1, deliver_cb, &delivery, NULL);
  call_node *top = call_node_new(TD_CPU, 1, NULL, NULL), *device = call_node_new(0, 1, NULL, NULL);
  td_node_set_edge(&device->node, 0, (td_edge){td_node_ref(receive), 0});
  call_node_connect(top, 0, device);
  td_tensor *loss = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1);
  td_set_grad_fn(loss, &top->node, 0);
  g_assert_cmpint(td_dist_execute(context, &loss, 1, false, NULL), ==, TD_OK);
  g_assert_true(atomic_load(&delivery.came));
  g_assert_false(pthread_equal(delivery.thread, pthread_self()));
  finish(context);
  td_tensor_unref(loss);
  td_tensor_unref(received);
  td_node_unref(receive);
  call_node_unref(top);
  call_node_unref(device);
}

/* U-08 */
static void
assert_refused(td_tensor *root, const char *text) {
  td_dist_context *context = td_dist_context_new(0, 0);
  td_error error = {0};
  g_assert_cmpint(td_dist_execute(context, &root, root ? 1 : 0, false, &error), ==, TD_AUTOGRAD);
  g_assert_cmpstr(td_error_text(&error), ==, text);
  td_error_clear(&error);
  finish(context);
  td_tensor_unref(root);
}

static void
test_roots(void) {
  td_tensor *x = leaf(1), *two = NULL, *wide = NULL;
  int64_t n = 2;
  g_assert_cmpint(td_tensor_new(TD_FLOAT32, TD_CPU, 1, &n, &two, NULL), ==, TD_OK);
  g_assert_cmpint(td_op_mul(x, two, &wide, NULL), ==, TD_OK);
  assert_refused(NULL, "No tensors provided for gradient computation.");
  assert_refused(two, "requires_grad not set on root");
  assert_refused(wide, " is not a scalar, all roots need to be scalar");
  assert_refused(x, " does not have a valid gradient function.");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:1", NULL), ==, TD_OK);
  g_test_add_func("/engine/distributed/graph-task/U-01", test_root_and_receive);
  g_test_add_func("/engine/distributed/send-is-waited-for/U-02", test_send_is_waited_for);
  g_test_add_func("/engine/distributed/leaves/U-03", test_leaves);
  g_test_add_func("/engine/distributed/root-and-receive/U-04", test_root_and_receive);
  g_test_add_func("/engine/distributed/leaf-hooks/U-05", test_leaf_hooks);
  g_test_add_func("/engine/distributed/queue-of-each-call/U-06", test_queue_of_each_call);
  g_test_add_func("/engine/distributed/device-to-cpu/U-07", test_device_to_cpu);
  g_test_add_func("/engine/distributed/roots/U-08", test_roots);
  g_test_add_func("/engine/distributed/error-on-node/U-09", test_queue_of_each_call);
  g_test_add_func("/engine/distributed/exit-on-error/J-15", test_queue_of_each_call);
  return g_test_run();
}
