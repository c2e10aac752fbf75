/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/call_nodes.h"

#include <glib.h>

static td_tensor *
one_on(td_device device) {
  td_tensor *one = NULL;
  g_assert_cmpint(td_tensor_new(TD_FLOAT32, device, 0, NULL, &one, NULL), ==, TD_OK);
  td_tensor_set(one, 0, 1);
  return one;
}

static td_status
call_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  call_node *self = (call_node *)node;
  td_status status = self->run ? self->run(self, error) : TD_OK;
  for (uint32_t i = 0; !status && i < node->n_outputs; i++)
    if (node->next_edges[i].node) outputs[i] = one_on(node->next_edges[i].node->device);
  return status;
}

static const td_node_class call_class = {.name = "CallBackward", .apply = call_apply};

call_node *
call_node_new(td_device device, uint32_t n_edges, call_function run, void *data) {
  call_node *self =
      (call_node *)td_node_new_raw(&call_class, sizeof *self, n_edges, td_sequence_nr_next());
  td_tensor *like = one_on(device);
  td_node_add_metadata(&self->node, like);
  td_tensor_unref(like);
  self->run = run;
  self->data = data;
  return self;
}

void
call_node_connect(call_node *from, uint32_t i, call_node *to) {
  td_node_set_edge(&from->node, i, (td_edge){to ? td_node_ref(&to->node) : NULL, 0});
}

void
call_node_unref(call_node *self) {
  td_node_unref(&self->node);
}

td_status
call_backward(call_node *root, td_error *error) {
  td_edge edge = {&root->node, 0};
  td_tensor *gradient = one_on(root->node.device);
  td_execute_options options = {.accumulate_grad = true};
  td_status status =
      td_engine_execute(td_engine_default(), &edge, &gradient, 1, &options, NULL, error);
  td_tensor_unref(gradient);
  return status;
}

void
call_wait(_Atomic bool *flag) {
  for (int i = 0; i < 20000 && !atomic_load(flag); i++)
    g_usleep(1000);
  g_assert_true(atomic_load(flag));
}

unsigned
call_threads(const char *prefix) {
  g_autoptr(GDir) tasks = g_dir_open("/proc/self/task", 0, NULL);
  unsigned n = 0;
  for (const char *name; (name = g_dir_read_name(tasks));) {
    g_autofree char *path = g_strdup_printf("/proc/self/task/%s/comm", name), *comm = NULL;
    if (g_file_get_contents(path, &comm, NULL, NULL)) n += g_str_has_prefix(comm, prefix);
  }
  return n;
}
