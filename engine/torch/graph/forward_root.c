/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/forward_root.h"

static _Thread_local bool stops;

bool
td_forward_root_stop(bool stop) {
  bool before = stops;
  stops = stop;
  return before;
}

static td_status
root_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  outputs[0] = stops ? NULL : td_tensor_ref(inputs[0]);
  return TD_OK;
}
static const td_node_class root_class = {.name = "ViewBackward0", .apply = root_apply};

td_tensor *
td_forward_root_wrap(td_tensor *self) {
  td_tensor *dual = td_tensor_detach(self);
  td_function_end(td_node_new(&root_class, sizeof(td_node), &self, 1), &dual, 1);
  return dual;
}
