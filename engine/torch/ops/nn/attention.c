/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/attention.h"

#include "engine/torch/graph/error_node.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/nn/attention_kernel.h"
#include "engine/torch/pass/exec_info.h"

/* In the order in which PyTorch saves. */
enum { MASK, KEY, QUERY, VALUE, LOGSUM, OUTPUT, N_TENSORS };

typedef struct attention_node {
  td_node node;
  td_saved_variable saved[N_TENSORS];
  bool is_causal;
  double scale;
} attention_node;

/* What kernels work on; all of one floating dtype. LOGSUM is [batch, heads, queries]. */
typedef struct attention {
  td_tensor *of[N_TENSORS]; /* (owned references); MASK may be NULL */
  bool is_causal;
  double scale;
} attention;

static void
attention_fini(attention *a) {
  for (int i = 0; i < N_TENSORS; i++)
    td_tensor_unref(a->of[i]);
}

static void *
element_at(const td_tensor *tensor, int64_t index) {
  return (char *)td_tensor_data(tensor) + index * (int64_t)td_dtype_size(tensor->dtype);
}

static td_matrix
matrix_of(const td_tensor *tensor, int64_t batch, int64_t head) {
  const int64_t *strides = tensor->strides;
  return (td_matrix){element_at(tensor, batch * strides[0] + head * strides[1]), strides[2],
                     strides[3]};
}

/* A dimension of size 1 repeats. */
static td_matrix
mask_of(const td_tensor *mask, int64_t batch, int64_t head) {
  int64_t steps[4] = {0}, first = 4 - mask->n_dims;
  for (int dim = 0; dim < mask->n_dims; dim++)
    steps[first + dim] = mask->sizes[dim] == 1 ? 0 : mask->strides[dim];
  return (td_matrix){element_at(mask, batch * steps[0] + head * steps[1]), steps[2], steps[3]};
}

static int64_t
n_sharing(const attention *a) {
  return a->of[QUERY]->sizes[1] / a->of[KEY]->sizes[1];
}

static td_attention_head
head_of(const attention *a, int64_t batch, int64_t number) {
  const td_tensor *query = a->of[QUERY], *key = a->of[KEY];
  int64_t shared = number / n_sharing(a), n_queries = query->sizes[2];
  td_attention_head h = {
      .dtype = query->dtype,
      .n_queries = n_queries,
      .n_keys = key->sizes[2],
      .n_size = query->sizes[3],
      .query = matrix_of(query, batch, number),
      .key = matrix_of(key, batch, shared),
      .value = matrix_of(a->of[VALUE], batch, shared),
      .output = matrix_of(a->of[OUTPUT], batch, number),
      .logsum = element_at(a->of[LOGSUM], (batch * query->sizes[1] + number) * n_queries),
      .is_causal = a->is_causal,
      .scale = a->scale};
  if (a->of[MASK]) h.mask = mask_of(a->of[MASK], batch, number);
  return h;
}

/* Room for so many matrices of weights. */
static td_status
new_room(const attention *a, int n, td_tensor **out, td_error *error) {
  const td_tensor *query = a->of[QUERY];
  int64_t sizes[] = {n, query->sizes[2], a->of[KEY]->sizes[2]};
  return td_tensor_new_empty(query->dtype, query->device, 3, sizes, out, error);
}

static td_status
forward(const attention *a, td_error *error) {
  TD_LOCAL(room);
  td_tensor *const *of = a->of;
  TD_TRY(new_room(a, 1, &room, error));
  if (!TD_LAUNCH("attention", 2, of[OUTPUT], of[LOGSUM], of[QUERY], of[KEY], of[VALUE], of[MASK]))
    return TD_OK;
  for (int64_t batch = 0; batch < of[QUERY]->sizes[0]; batch++)
    for (int64_t number = 0; number < of[QUERY]->sizes[1]; number++) {
      td_attention_head h = head_of(a, batch, number);
      td_attention_forward(&h, td_tensor_data(room));
    }
  return TD_OK;
}

static td_status
backward(const attention *a, td_tensor *grad, td_tensor *const out[TD_ATTENTION_N_GRADIENTS],
         td_error *error) {
  TD_LOCAL(room);
  td_tensor *const *of = a->of;
  TD_TRY(new_room(a, 2, &room, error));
  if (!TD_LAUNCH("attention_backward", 3, out[TD_ATTENTION_BY_QUERY], out[TD_ATTENTION_BY_KEY],
                 out[TD_ATTENTION_BY_VALUE], grad, of[QUERY], of[KEY], of[VALUE], of[MASK],
                 of[OUTPUT], of[LOGSUM]))
    return TD_OK;
  for (int64_t batch = 0; batch < of[QUERY]->sizes[0]; batch++)
    for (int64_t number = 0; number < of[QUERY]->sizes[1]; number++) {
      td_attention_head h = head_of(a, batch, number);
      td_attention_gradients d = {{{NULL, 0, 0}}};
      for (int i = 0; i < TD_ATTENTION_N_GRADIENTS; i++)
        if (out[i]) d.by[i] = matrix_of(out[i], batch, i ? number / n_sharing(a) : number);
      td_attention_backward(&h, matrix_of(grad, batch, number), d, td_tensor_data(room),
                            element_at(room, h.n_queries * h.n_keys));
    }
  return TD_OK;
}

/* Zeros of a tensor's sizes in the memory of [batch, tokens, heads, size], as in PyTorch. */
static td_status
new_gradient(const td_tensor *like, td_tensor **out, td_error *error) {
  TD_LOCAL(rows);
  const int64_t *n = like->sizes;
  TD_TRY(td_tensor_new(like->dtype, like->device, 4, (int64_t[]){n[0], n[2], n[1], n[3]}, &rows,
                       error));
  const int64_t *s = rows->strides;
  *out = td_tensor_new_view(rows, 4, n, (int64_t[]){s[0], s[2], s[1], s[3]}, rows->offset);
  return TD_OK;
}

/* PyTorch has no derivative of these gradients. */
static void
end_gradients(const attention *a, td_tensor *grad, td_tensor *const out[TD_ATTENTION_N_GRADIENTS]) {
  for (int i = 0; i < TD_ATTENTION_N_GRADIENTS; i++)
    if (out[i])
      td_error_node_set(
          "NotImplemented", TD_AUTOGRAD,
          "derivative for aten::_scaled_dot_product_flash_attention_for_cpu_backward is not "
          "implemented",
          out[i],
          TD_INPUTS(grad, a->of[QUERY], a->of[KEY], a->of[VALUE], a->of[OUTPUT], a->of[LOGSUM]));
}

static td_status
unpack(attention_node *node, attention *out, td_error *error) {
  td_status status = TD_OK;
  *out = (attention){.is_causal = node->is_causal, .scale = node->scale};
  td_node_lock(&node->node);
  for (int i = 0; i < N_TENSORS && !status; i++)
    status = td_saved_variable_unpack(&node->saved[i], &node->node, &out->of[i], error);
  td_node_unlock(&node->node);
  return status;
}

static td_status
gradients(attention_node *node, td_tensor *grad, td_tensor **out, td_error *error) {
  static const int like[TD_ATTENTION_N_GRADIENTS] = {QUERY, KEY, VALUE};
  attention a;
  td_status status = unpack(node, &a, error);
  for (uint32_t i = 0; i < TD_ATTENTION_N_GRADIENTS && !status; i++)
    if (td_needs_gradient(&node->node, i)) status = new_gradient(a.of[like[i]], &out[i], error);
  if (!status) status = backward(&a, grad, out, error);
  if (!status) end_gradients(&a, grad, out);
  attention_fini(&a);
  return status;
}

static td_status
attention_apply(td_node *self, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  for (uint32_t i = 0; i < TD_ATTENTION_N_GRADIENTS; i++)
    outputs[i] = NULL;
  if (!inputs[0]) return TD_OK;
  td_status status = gradients((attention_node *)self, inputs[0], outputs, error);
  if (status) td_op_drop(outputs, TD_ATTENTION_N_GRADIENTS);
  return status;
}

static void
attention_release(td_node *self) {
  for (int i = 0; i < N_TENSORS; i++)
    td_saved_variable_release(&((attention_node *)self)->saved[i]);
}

static const td_node_class attention_class = {.name =
                                                  "ScaledDotProductFlashAttentionForCpuBackward0",
                                              .apply = attention_apply,
                                              .release_variables = attention_release};

static void
keep(attention_node *node, attention *a) {
  node->is_causal = a->is_causal;
  node->scale = a->scale;
  td_node_ref(&node->node);
  for (int i = 0; i < N_TENSORS; i++) {
    if (i == LOGSUM) td_function_end(&node->node, &a->of[OUTPUT], 1);
    node->saved[i].number = (uint8_t)i;
    td_saved_variable_init(&node->saved[i], a->of[i], i >= LOGSUM);
  }
  for (int i = 0; td_recording() && i < N_TENSORS; i++)
    td_saved_variable_announce(&node->saved[i], &node->node);
  td_node_unref(&node->node);
}

static td_status
refuse_sizes(const char *what, const td_tensor *tensor, td_error *error) {
  char *sizes = td_tensor_shape_text(tensor);
  td_error_set(error, TD_SHAPE, "attention does not take a %s of size %s", what, sizes);
  free(sizes);
  return TD_SHAPE;
}

static bool
mask_fits(const td_tensor *mask, const td_tensor *query, int64_t n_keys) {
  int64_t sizes[] = {query->sizes[0], query->sizes[1], query->sizes[2], n_keys};
  if (mask->n_dims != 2 && mask->n_dims != 4) return false;
  for (int dim = 0; dim < mask->n_dims; dim++)
    if (mask->sizes[dim] != 1 && mask->sizes[dim] != sizes[4 - mask->n_dims + dim]) return false;
  return true;
}

static bool
keys_fit(const td_tensor *keys, const td_tensor *query) {
  return keys->n_dims == 4 && keys->sizes[0] == query->sizes[0] && keys->sizes[1] > 0 &&
         query->sizes[1] % keys->sizes[1] == 0 && keys->sizes[3] == query->sizes[3];
}

static td_status
check(const td_attention *given, td_error *error) {
  td_tensor *query = given->query, *key = given->key, *value = given->value, *mask = given->mask;
  td_device device;
  TD_TRY(td_op_want_floating(query, "attention", error));
  if (td_dtype_is_half(query->dtype))
    return td_error_set(error, TD_UNSUPPORTED, "attention: no kernel for halves");
  TD_TRY(td_op_same_dtype(query, key, error));
  TD_TRY(td_op_same_dtype(query, value, error));
  if (mask) TD_TRY(td_op_same_dtype(query, mask, error));
  TD_TRY(td_op_common_device(4, (td_tensor *[]){query, key, value, mask}, &device, error));
  if (query->n_dims != 4) return refuse_sizes("query", query, error);
  if (!keys_fit(key, query)) return refuse_sizes("key", key, error);
  if (!keys_fit(value, query) || value->sizes[1] != key->sizes[1] ||
      value->sizes[2] != key->sizes[2])
    return refuse_sizes("value", value, error);
  if (mask && !mask_fits(mask, query, key->sizes[2])) return refuse_sizes("mask", mask, error);
  return TD_OK;
}

/* As the query lies in memory, if its rows are dense: products write rows. */
static td_status
new_output(const td_tensor *query, td_tensor **out, td_error *error) {
  if (query->strides[3] == 1)
    return td_tensor_laid_out_like(query, query->dtype, query->device, out, error);
  return td_tensor_new_empty(query->dtype, query->device, 4, query->sizes, out, error);
}

static td_status
compute(attention *a, td_error *error) {
  const td_tensor *query = a->of[QUERY];
  TD_TRY(new_output(query, &a->of[OUTPUT], error));
  TD_TRY(td_tensor_new_empty(query->dtype, query->device, 3, query->sizes, &a->of[LOGSUM], error));
  return forward(a, error);
}

td_status
td_op_attention(const td_attention *given, td_tensor **out, td_error *error) {
  TD_TRY(check(given, error));
  attention a = {.of = {[MASK] = td_tensor_ref(given->mask),
                        [KEY] = td_tensor_ref(given->key),
                        [QUERY] = td_tensor_ref(given->query),
                        [VALUE] = td_tensor_ref(given->value)},
                 .is_causal = given->is_causal,
                 .scale = given->scale};
  td_status status = compute(&a, error);
  if (!status) {
    attention_node *node = td_function_begin(&attention_class, sizeof *node,
                                             TD_INPUTS(given->query, given->key, given->value));
    if (node) keep(node, &a);
    *out = td_tensor_ref(a.of[OUTPUT]);
  }
  attention_fini(&a);
  return status;
}
