/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/saved.h"

#include "engine/torch/ops/base/op.h"

static const struct row {
  const char *node, *names[TD_OP_MAX_SAVED];
} rows[] = {
#define TD_SAVED(node, ...) {node, {__VA_ARGS__}},
#include "engine/torch/ops/base/saved.def"
#undef TD_SAVED
};

static const struct row *
row_of(const td_node *node) {
  if (node->klass->apply != td_op_apply) return NULL;
  for (size_t i = 0; i < TD_N_ELEMENTS(rows); i++)
    if (strcmp(rows[i].node, node->klass->name) == 0) return &rows[i];
  return NULL;
}

td_saved_variable *
td_op_saved_find(td_node *node, const char *name) {
  const struct row *row = row_of(node);
  for (int i = 0; row && i < TD_OP_MAX_SAVED; i++)
    if (row->names[i] && strcmp(row->names[i], name) == 0) return &((td_op_node *)node)->saved[i];
  return NULL;
}
