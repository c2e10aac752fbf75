/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/lstm.h"

#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/nn/lstm_formula.h"
#include "engine/torch/ops/nn/lstm_kernel.h"
#include "engine/torch/pass/exec_info.h"

/* The order in which PyTorch saves the operands. After them come the results, and the workspace. */
static const td_lstm_operand order[] = {TD_LSTM_C,    TD_LSTM_H,    TD_LSTM_INPUT, TD_LSTM_W_IH,
                                        TD_LSTM_W_HH, TD_LSTM_B_IH, TD_LSTM_B_HH};
enum {
  SAVED_RESULTS = TD_LSTM_N_OPERANDS,
  SAVED_WORKSPACE = SAVED_RESULTS + TD_LSTM_N_RESULTS,
  N_SAVED
};

typedef struct lstm_node {
  td_node node;
  td_saved_variable saved[N_SAVED];
  td_lstm_layer layer;
} lstm_node;

/* What a kernel works on (owned references). The workspace has the gates, then the cells: see
 * td_lstm_elements. */
typedef struct lstm {
  td_tensor *operands[TD_LSTM_N_OPERANDS], *results[TD_LSTM_N_RESULTS], *workspace;
} lstm;

static void
lstm_fini(lstm *self) {
  td_op_drop(self->operands, TD_LSTM_N_OPERANDS);
  td_op_drop(self->results, TD_LSTM_N_RESULTS);
  td_tensor_unref(self->workspace);
}

static float *
data_or_null(const td_tensor *tensor) {
  return tensor ? td_tensor_data(tensor) : NULL;
}

static int64_t
n_gates_of(const td_lstm_layer *l) {
  return l->n_times * l->n_batch * 4 * l->n_hidden;
}

static td_lstm_elements
elements_of(const td_lstm_layer *l, const lstm *self) {
  float *gates = td_tensor_data(self->workspace);
  td_lstm_elements e = {.gates = gates,
                        .cells = gates + n_gates_of(l),
                        .output = td_tensor_data(self->results[TD_LSTM_OUTPUT])};
  for (int i = 0; i < TD_LSTM_N_OPERANDS; i++)
    e.operands[i] = data_or_null(self->operands[i]);
  return e;
}

static td_status
new_of(int n_dims, const int64_t *sizes, td_tensor **out, td_error *error) {
  return td_tensor_new_empty(TD_FLOAT32, TD_CPU, n_dims, sizes, out, error);
}

/* The state after the last time, of the states of all times, which begin at an offset. */
static td_status
last_of(const td_lstm_layer *l, td_tensor *all, int64_t offset, td_tensor **out, td_error *error) {
  TD_LOCAL(last);
  last =
      td_tensor_new_view(all, 2, (int64_t[]){l->n_batch, l->n_hidden}, (int64_t[]){l->n_hidden, 1},
                         offset + td_lstm_last_time(l) * l->n_batch * l->n_hidden);
  TD_TRY(new_of(2, last->sizes, out, error));
  td_kernel_copy(*out, last);
  return TD_OK;
}

static td_status
compute(const td_lstm_layer *l, lstm *self, td_error *error) {
  td_tensor **results = self->results;
  int64_t states[] = {l->n_times, l->n_batch, l->n_hidden};
  int64_t n_workspace = n_gates_of(l) + l->n_times * l->n_batch * l->n_hidden;
  TD_TRY(new_of(1, &n_workspace, &self->workspace, error));
  TD_TRY(new_of(3, states, &results[TD_LSTM_OUTPUT], error));
  td_lstm_elements e = elements_of(l, self);
  td_lstm_forward(l, &e);
  TD_TRY(last_of(l, results[TD_LSTM_OUTPUT], 0, &results[TD_LSTM_LAST_H], error));
  return last_of(l, self->workspace, n_gates_of(l), &results[TD_LSTM_LAST_C], error);
}

static td_status
unpack(lstm_node *node, lstm *out, td_error *error) {
  td_status status = TD_OK;
  td_node_lock(&node->node);
  for (int i = 0; i < N_SAVED && !status; i++) {
    td_tensor **to = i < SAVED_RESULTS     ? &out->operands[order[i]]
                     : i < SAVED_WORKSPACE ? &out->results[i - SAVED_RESULTS]
                                           : &out->workspace;
    status = td_saved_variable_unpack(&node->saved[i], &node->node, to, error);
  }
  td_node_unlock(&node->node);
  return status;
}

/* What flows back into the last state, in memory that the kernel writes. */
static td_status
begin_flow(const td_tensor *like, td_tensor *grad, td_tensor **out, td_error *error) {
  TD_TRY(td_tensor_new_like(like, out, error));
  if (grad) td_kernel_copy(*out, grad);
  return TD_OK;
}

static td_status
contiguous_or_null(td_tensor *tensor, td_tensor **out, td_error *error) {
  return tensor ? td_kernel_contiguous(tensor, out, error) : TD_OK;
}

static td_status
contiguous_operands(lstm *self, td_error *error) {
  for (int i = 0; i < TD_LSTM_N_OPERANDS; i++) {
    TD_LOCAL(given);
    given = td_op_take(&self->operands[i]);
    TD_TRY(contiguous_or_null(given, &self->operands[i], error));
  }
  return TD_OK;
}

/* The gradients by both biases are one tensor. */
static td_status
kernel_gradients(const td_lstm_layer *l, lstm *self, td_tensor *const *grads, const bool *wanted,
                 td_tensor **out, td_error *error) {
  TD_LOCAL(d_output);
  TD_LOCAL(d_gates);
  float *into[TD_LSTM_N_OPERANDS] = {NULL};
  TD_TRY(contiguous_operands(self, error));
  TD_TRY(contiguous_or_null(grads[TD_LSTM_OUTPUT], &d_output, error));
  TD_TRY(new_of(1, (int64_t[]){n_gates_of(l)}, &d_gates, error));
  TD_TRY(begin_flow(self->operands[TD_LSTM_H], grads[TD_LSTM_LAST_H], &out[TD_LSTM_H], error));
  TD_TRY(begin_flow(self->operands[TD_LSTM_C], grads[TD_LSTM_LAST_C], &out[TD_LSTM_C], error));
  for (int i = 0; i < TD_LSTM_B_HH; i++) {
    bool needed = wanted[i] || (i == TD_LSTM_B_IH && wanted[TD_LSTM_B_HH]);
    if (needed) TD_TRY(td_tensor_new_like(self->operands[i], &out[i], error));
    into[i] = data_or_null(out[i]);
  }
  out[TD_LSTM_B_HH] = td_tensor_ref(out[TD_LSTM_B_IH]);
  td_lstm_elements e = elements_of(l, self);
  td_lstm_backward(l, &e,
                   &(td_lstm_flow){.d_output = data_or_null(d_output),
                                   .d_gates = td_tensor_data(d_gates),
                                   .d_h = td_tensor_data(out[TD_LSTM_H]),
                                   .d_c = td_tensor_data(out[TD_LSTM_C])});
  td_lstm_gradients(l, &e, td_tensor_data(d_gates), into);
  return TD_OK;
}

static td_status
gradients(lstm_node *node, td_tensor *const *grads, const bool *wanted, td_tensor **out,
          td_error *error) {
  lstm self = {0};
  td_status status = unpack(node, &self, error);
  if (!status && td_grad_mode())
    status = td_lstm_formula(self.operands, node->layer.reverse, grads, out, error);
  else if (!status)
    status = kernel_gradients(&node->layer, &self, grads, wanted, out, error);
  lstm_fini(&self);
  return status;
}

static td_status
lstm_apply(td_node *self, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  bool wanted[TD_LSTM_N_OPERANDS], any = false;
  for (uint32_t i = 0; i < TD_LSTM_N_OPERANDS; i++) {
    outputs[i] = NULL;
    wanted[i] = td_needs_gradient(self, i);
    any = any || wanted[i];
  }
  if (!any || (!inputs[0] && !inputs[1] && !inputs[2])) return TD_OK;
  td_status status = gradients((lstm_node *)self, inputs, wanted, outputs, error);
  for (uint32_t i = 0; i < TD_LSTM_N_OPERANDS; i++)
    if (status || !wanted[i]) td_tensor_unref(td_op_take(&outputs[i]));
  return status;
}

static void
lstm_release(td_node *self) {
  for (int i = 0; i < N_SAVED; i++)
    td_saved_variable_release(&((lstm_node *)self)->saved[i]);
}

static const td_node_class lstm_class = {
    .name = "MkldnnRnnLayerBackward0", .apply = lstm_apply, .release_variables = lstm_release};

static void
save(lstm_node *node, int index, td_tensor *tensor, bool is_output) {
  node->saved[index].number = (uint8_t)index;
  td_saved_variable_init(&node->saved[index], tensor, is_output);
}

static void
keep(lstm_node *node, td_tensor *const *operands, const lstm *self) {
  for (int i = 0; i < TD_LSTM_N_OPERANDS; i++)
    save(node, i, operands[order[i]], false);
  td_node_ref(&node->node);
  td_function_end(&node->node, self->results, TD_LSTM_N_RESULTS);
  for (int i = 0; i < TD_LSTM_N_RESULTS; i++)
    save(node, SAVED_RESULTS + i, self->results[i], true);
  save(node, SAVED_WORKSPACE, self->workspace, false);
  for (int i = 0; td_recording() && i < N_SAVED; i++)
    td_saved_variable_announce(&node->saved[i], &node->node);
  td_node_unref(&node->node);
}

static td_status
refuse_sizes(const td_tensor *operand, int which, td_error *error) {
  static const char *const names[] = {"input",   "weight_ih", "weight_hh", "bias_ih",
                                      "bias_hh", "h",         "c"};
  char *sizes = td_tensor_shape_text(operand);
  td_error_set(error, TD_SHAPE, "a layer of an LSTM does not take %s of size %s", names[which],
               sizes);
  free(sizes);
  return TD_SHAPE;
}

/* The layer that the sizes of input and h make, if all others fit. */
static td_status
layer_of(td_tensor *const *operands, bool reverse, td_lstm_layer *out, td_error *error) {
  const td_tensor *input = operands[TD_LSTM_INPUT], *h = operands[TD_LSTM_H];
  if (input->n_dims != 3) return refuse_sizes(input, TD_LSTM_INPUT, error);
  if (h->n_dims != 2) return refuse_sizes(h, TD_LSTM_H, error);
  *out = (td_lstm_layer){.n_times = input->sizes[0],
                         .n_batch = input->sizes[1],
                         .n_inputs = input->sizes[2],
                         .n_hidden = h->sizes[1],
                         .reverse = reverse};
  int64_t n_gates = 4 * out->n_hidden;
  td_sizes fitting[TD_LSTM_N_OPERANDS] = {[TD_LSTM_INPUT] = td_op_sizes(input),
                                          [TD_LSTM_W_IH] = {2, {n_gates, out->n_inputs}},
                                          [TD_LSTM_W_HH] = {2, {n_gates, out->n_hidden}},
                                          [TD_LSTM_B_IH] = {1, {n_gates}},
                                          [TD_LSTM_B_HH] = {1, {n_gates}},
                                          [TD_LSTM_H] = {2, {out->n_batch, out->n_hidden}},
                                          [TD_LSTM_C] = {2, {out->n_batch, out->n_hidden}}};
  for (int i = 0; i < TD_LSTM_N_OPERANDS; i++) {
    const td_tensor *operand = operands[i];
    if (!operand) continue;
    size_t n_bytes = (size_t)operand->n_dims * sizeof *operand->sizes;
    if (operand->dtype != TD_FLOAT32 || operand->device != TD_CPU || operand->sparse)
      return td_error_set(error, TD_DTYPE, "a layer of an LSTM takes float32 on the CPU");
    if (operand->n_dims != fitting[i].n_dims || memcmp(operand->sizes, fitting[i].at, n_bytes))
      return refuse_sizes(operand, i, error);
  }
  return out->n_times ? TD_OK : refuse_sizes(input, TD_LSTM_INPUT, error);
}

td_status
td_op_lstm_layer(td_tensor *const operands[TD_LSTM_N_OPERANDS], bool reverse,
                 td_tensor *results[TD_LSTM_N_RESULTS], td_error *error) {
  td_lstm_layer layer;
  lstm self = {0};
  TD_TRY(layer_of(operands, reverse, &layer, error));
  for (int i = 0; i < TD_LSTM_N_OPERANDS; i++)
    self.operands[i] = td_tensor_ref(operands[i]);
  td_status status = contiguous_operands(&self, error);
  if (!status) status = compute(&layer, &self, error);
  if (!status) {
    lstm_node *node = td_function_begin(&lstm_class, sizeof *node, operands, TD_LSTM_N_OPERANDS);
    if (node) {
      node->layer = layer;
      keep(node, operands, &self);
    }
    for (int i = 0; i < TD_LSTM_N_RESULTS; i++)
      results[i] = td_op_take(&self.results[i]);
  }
  lstm_fini(&self);
  return status;
}
