/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/error_node.h"

#include "engine/base/alloc.h"

typedef struct error_node {
  td_node node;
  const char *name; /* a literal */
  td_status status;
  char *text; /* (owned) */
} error_node;

static td_status
error_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  const error_node *self = (const error_node *)node;
  return td_error_set(error, self->status, "%s", self->text);
}

static void
error_fini(td_node *node) {
  free(((error_node *)node)->text);
}

static const char *
error_name(const td_node *node) {
  return ((const error_node *)node)->name;
}

static const td_node_class error_class = {
    .name = "Error", .apply = error_apply, .fini = error_fini, .name_of = error_name};

static td_status
undefined_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  for (uint32_t i = 0; i < node->n_outputs; i++)
    outputs[i] = NULL;
  return TD_OK;
}

static const td_node_class undefined_class = {.name = "UndefinedGradBackward",
                                              .apply = undefined_apply};

static error_node *
error_node_begin(const char *name, td_status status, const char *text, td_tensor *const *inputs,
                 uint32_t n) {
  error_node *self = td_function_begin(&error_class, sizeof *self, inputs, n);
  if (!self) return NULL;
  self->name = name;
  self->status = status;
  self->text = td_dup_string(text);
  return self;
}

static void
wrap(td_node *node, td_tensor *const *inputs, uint32_t n, td_tensor **outputs) {
  for (uint32_t i = 0; i < n; i++)
    outputs[i] = inputs[i] ? td_tensor_detach(inputs[i]) : NULL;
  if (node) td_function_end(node, outputs, n);
}

void
td_error_node_wrap(td_status status, const char *text, td_tensor *const *inputs, uint32_t n,
                   td_tensor **outputs) {
  wrap((td_node *)error_node_begin("Error", status, text, inputs, n), inputs, n, outputs);
}

void
td_error_node_set(const char *name, td_status status, const char *text, td_tensor *result,
                  td_tensor *const *inputs, uint32_t n_inputs) {
  td_tensor **wanting = TD_NEW_N(td_tensor *, n_inputs + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < n_inputs; i++)
    if (td_requires_grad(inputs[i])) wanting[n++] = inputs[i];
  error_node *self = error_node_begin(name, status, text, wanting, n);
  if (self) td_function_end(&self->node, &result, 1);
  free(wanting);
}

void
td_undefined_grad_wrap(td_tensor *const *inputs, uint32_t n, td_tensor **outputs) {
  wrap(td_function_begin(&undefined_class, sizeof(td_node), inputs, n), inputs, n, outputs);
}
