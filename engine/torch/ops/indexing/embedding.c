/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of a table by number, one by one and in bags. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/indexing/indexing.h"
#include "engine/torch/ops/shape/view.h"

typedef struct embedding_node {
  td_op_node op;
  td_input_metadata weight;
  int64_t padding_idx;
  bool by_frequency, sparse;
} embedding_node;

/* Indices without those of padding, [m], and rows of the gradient, [m, width]. */
static td_status
drop_padding(td_tensor **indices, td_tensor **rows, int64_t padding_idx, td_error *error) {
  TD_LOCAL(number);
  TD_LOCAL(wanted);
  TD_LOCAL(fewer);
  TD_LOCAL(fewer_rows);
  number = td_tensor_new_scalar(TD_INT64, (*indices)->device, (double)padding_idx);
  TD_TRY(td_op_ne(*indices, number, &wanted, error));
  TD_TRY(td_op_index(*indices, wanted, &fewer, error));
  TD_TRY(td_op_index(*rows, wanted, &fewer_rows, error));
  td_tensor_unref(*indices);
  td_tensor_unref(*rows);
  *indices = TD_TAKE(fewer);
  *rows = TD_TAKE(fewer_rows);
  return TD_OK;
}

static td_status
flat_indices(td_tensor *indices, td_tensor **out, td_error *error) {
  TD_LOCAL(cast);
  TD_TRY(td_kernel_cast(indices, TD_INT64, &cast, error));
  return td_op_reshape(cast, 1, (int64_t[]){-1}, out, error);
}

/* Rows [m, width], each divided by how often its index comes among the indices [m]. */
static td_status
divide_by_frequency(td_tensor *indices, td_tensor **rows, int64_t n_rows, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *zeros = NULL, *ones = NULL, *frequencies = NULL, *of_each = NULL, *out = NULL;
  td_dtype dtype = (*rows)->dtype;
  c->status = td_tensor_new(dtype, indices->device, 1, &n_rows, &zeros, error);
  td_calc_keep(c, zeros);
  if (!c->status)
    c->status = td_tensor_new(dtype, indices->device, 1, indices->sizes, &ones, error);
  td_calc_keep(c, ones);
  for (int64_t i = 0; !c->status && i < indices->sizes[0]; i++)
    td_tensor_set(ones, i, 1);
  if (!c->status) c->status = td_op_index_add(zeros, 0, indices, ones, &frequencies, error);
  td_calc_keep(c, frequencies);
  if (!c->status) c->status = td_op_index_select(frequencies, 0, indices, &of_each, error);
  of_each = td_calc_unsqueeze(c, td_calc_keep(c, of_each), 1);
  TD_TRY(td_calc_end(c, MUL(*rows, td_calc_reciprocal(c, of_each)), &out));
  td_tensor_unref(*rows);
  *rows = out;
  return TD_OK;
}

/* A sparse gradient of rows, not coalesced. */
static td_status
sparse_rows(td_tensor *indices, td_tensor *rows, const td_input_metadata *weight, td_tensor **out,
            td_error *error) {
  TD_LOCAL(line);
  TD_LOCAL(contiguous);
  TD_LOCAL(bare);
  bare = td_tensor_detach(rows);
  TD_TRY(td_kernel_contiguous(bare, &contiguous, error));
  TD_TRY(td_op_unsqueeze(indices, 0, &line, error));
  return td_sparse_new(line, contiguous, 2, weight->sizes, false, out, error);
}

/* The gradient is rows of the table that are added up; its gradient takes them from there. As in
 * PyTorch, that one knows nothing of frequencies. */
static td_status
embedding_back_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                       td_error *error) {
  embedding_node *node = (embedding_node *)op;
  td_calc calc = {.error = error}, *c = &calc;
  TD_LOCAL(flat);
  td_tensor *indices = SAVED(0), *rows = NULL, *kept = NULL;
  if (!c->status) c->status = flat_indices(indices, &flat, error);
  if (!c->status) c->status = td_op_index_select(grad, 0, flat, &rows, error);
  td_calc_keep(c, rows);
  td_sizes sizes = indices ? td_op_sizes(indices) : (td_sizes){0};
  sizes.at[sizes.n_dims++] = node->weight.sizes[1];
  rows = td_calc_reshape(c, rows, &sizes);
  if (node->padding_idx < 0) return td_calc_end(c, rows, out);
  td_tensor *number =
      td_calc_keep(c, td_tensor_new_scalar(TD_INT64, grad->device, (double)node->padding_idx));
  td_tensor *mask = td_calc_unsqueeze(c, td_calc_eq(c, indices, number), -1);
  if (!c->status) c->status = td_op_masked_fill(rows, mask, 0, &kept, error);
  return td_calc_end(c, td_calc_keep(c, kept), out);
}
static const td_op_class embedding_back_class =
    TD_OP_CLASS("EmbeddingDenseBackwardBackward0", embedding_back_formula);

static void
end_back(const embedding_node *like, td_tensor *grad, td_tensor *indices, td_tensor *result) {
  embedding_node *node = td_op_begin(&embedding_back_class, sizeof *node, TD_INPUTS(grad));
  if (!node) return;
  node->weight = like->weight;
  node->padding_idx = like->padding_idx;
  td_op_save(&node->op, 0, indices);
  td_op_end(&node->op, result);
}

static td_status
embedding_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                  td_error *error) {
  embedding_node *node = (embedding_node *)op;
  TD_LOCAL(saved);
  TD_LOCAL(indices);
  TD_LOCAL(rows);
  TD_LOCAL(zeros);
  TD_LOCAL(bare);
  TD_TRY(td_op_saved(op, 0, &saved, error));
  TD_TRY(flat_indices(saved, &indices, error));
  bare = td_tensor_detach(grad);
  TD_TRY(
      td_op_reshape(bare, 2, (int64_t[]){indices->sizes[0], node->weight.sizes[1]}, &rows, error));
  if (node->padding_idx >= 0) TD_TRY(drop_padding(&indices, &rows, node->padding_idx, error));
  if (node->sparse) return sparse_rows(indices, rows, &node->weight, out, error);
  if (node->by_frequency) TD_TRY(divide_by_frequency(indices, &rows, node->weight.sizes[0], error));
  TD_TRY(td_tensor_new(grad->dtype, grad->device, 2, node->weight.sizes, &zeros, error));
  TD_TRY(td_op_index_add(zeros, 0, indices, rows, out, error));
  end_back(node, grad, saved, *out);
  return TD_OK;
}
static const td_op_class embedding_class = TD_OP_CLASS("EmbeddingBackward0", embedding_formula);

static td_status
check_table(const char *what, const td_tensor *weight, const td_tensor *indices, td_error *error) {
  if (weight->n_dims != 2) return td_error_set(error, TD_SHAPE, "'weight' must be 2-D");
  if (indices->dtype == TD_INT64 || indices->dtype == TD_INT32) return TD_OK;
  return td_error_set(error, TD_DTYPE,
                      "Expected tensor for argument #1 'indices' to have one of the following "
                      "scalar types: Long, Int; but got torch.%sTensor instead (while checking "
                      "arguments for %s)",
                      td_op_scalar_type(indices->dtype), what);
}

td_status
td_op_embedding(td_tensor *weight, td_tensor *indices, int64_t padding_idx, bool by_frequency,
                bool sparse, td_tensor **out, td_error *error) {
  TD_LOCAL(bare);
  TD_LOCAL(flat);
  TD_LOCAL(rows);
  TD_TRY(check_table("embedding", weight, indices, error));
  if (by_frequency && sparse)
    return td_error_set(
        error, TD_INVALID,
        "embedding_backward: scale_grad_by_freq not supported with sparse gradients");
  bare = td_tensor_detach(weight);
  TD_TRY(flat_indices(indices, &flat, error));
  TD_TRY(td_op_index_select(bare, 0, flat, &rows, error));
  td_sizes sizes = td_op_sizes(indices);
  sizes.at[sizes.n_dims++] = weight->sizes[1];
  TD_TRY(td_op_own(td_op_view(rows, sizes.n_dims, sizes.at, out, error), out));
  embedding_node *node = td_op_begin(&embedding_class, sizeof *node, TD_INPUTS(weight));
  if (!node) return TD_OK;
  node->weight = td_op_metadata(weight);
  node->padding_idx = padding_idx;
  node->by_frequency = by_frequency;
  node->sparse = sparse;
  td_op_save(&node->op, 0, indices);
  td_op_end(&node->op, *out);
  return TD_OK;
}

typedef struct bag_node {
  td_op_node op;
  td_input_metadata weight, factors;
  td_bag mode;
  bool sparse;
  td_saved_variable table; /* weight, where per_sample_weights want a gradient */
} bag_node;

static void
bag_release(td_node *node) {
  td_op_release(node);
  td_saved_variable_release(&((bag_node *)node)->table);
}

/* int64 [n]: which bag each index is in, and in *counts [bags] how many each has. */
static td_status
bags_of(td_tensor *indices, td_tensor *offsets, td_tensor **bags, td_tensor **counts,
        td_error *error) {
  int64_t n = td_tensor_n_elements(indices);
  int64_t n_bags = offsets ? td_tensor_n_elements(offsets) : indices->sizes[0];
  TD_TRY(td_tensor_new(TD_INT64, indices->device, 1, &n, bags, error));
  TD_TRY(td_tensor_new(TD_INT64, indices->device, 1, &n_bags, counts, error));
  int64_t *bag_of = td_tensor_data(*bags), *count = td_tensor_data(*counts), bag = 0;
  if (offsets && n_bags > 0 && td_tensor_get(offsets, 0) != 0)
    return td_error_set(error, TD_INVALID,
                        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to "
                        "start from position 0. However, got %lld",
                        (long long)td_tensor_get(offsets, 0));
  for (int64_t i = 0; i < n; i++) {
    while (offsets && bag + 1 < n_bags && (int64_t)td_tensor_get(offsets, bag + 1) <= i)
      bag++;
    bag_of[i] = offsets ? bag : i / indices->sizes[1];
    count[bag_of[i]]++;
  }
  return TD_OK;
}

/* The factor of each row in its bag, [n, 1]; NULL where all are 1. Recorded for the gradient. */
static td_tensor *
row_factors(td_calc *c, td_bag mode, td_tensor *bags, td_tensor *counts, td_tensor *weights,
            td_dtype dtype) {
  td_tensor *out = NULL;
  if (mode == TD_BAG_SUM)
    return weights ? td_calc_unsqueeze(c, td_calc_to(c, weights, dtype), 1) : NULL;
  if (!c->status) c->status = td_op_index_select(counts, 0, bags, &out, c->error);
  td_tensor *count = td_calc_to(c, td_calc_keep(c, out), dtype);
  return td_calc_unsqueeze(c, td_calc_reciprocal(c, count), 1);
}

static td_tensor *
rows_of(td_calc *c, td_tensor *table, td_tensor *numbers) {
  td_tensor *out = NULL;
  if (!c->status) c->status = td_op_index_select(table, 0, numbers, &out, c->error);
  return td_calc_keep(c, out);
}

static td_tensor *
bag_weight_gradient(td_calc *c, bag_node *node, td_tensor *rows, td_tensor *indices) {
  td_tensor *out = NULL, *zeros = NULL;
  if (c->status) return NULL;
  if (node->sparse) {
    c->status = sparse_rows(indices, rows, &node->weight, &out, c->error);
    return td_calc_keep(c, out);
  }
  c->status = td_tensor_new(rows->dtype, rows->device, 2, node->weight.sizes, &zeros, c->error);
  td_calc_keep(c, zeros);
  if (!c->status) c->status = td_op_index_add(zeros, 0, indices, rows, &out, c->error);
  return td_calc_keep(c, out);
}

/* For the largest: `indices` are the rows that won, [bags, width]. */
static td_tensor *
bag_max_gradient(td_calc *c, bag_node *node, td_tensor *grad, td_tensor *winners) {
  td_tensor *out = NULL, *zeros = NULL;
  if (c->status) return NULL;
  c->status = td_tensor_new(grad->dtype, grad->device, 2, node->weight.sizes, &zeros, c->error);
  td_calc_keep(c, zeros);
  if (!c->status) c->status = td_op_scatter_add(zeros, 0, winners, grad, &out, c->error);
  return td_calc_keep(c, out);
}

/* w_i scales row i of its bag:  dw_i = sum of dr[bag of i] row i */
static td_tensor *
bag_factor_gradient(td_calc *c, bag_node *node, td_tensor *rows, td_tensor *indices) {
  td_tensor *table = NULL;
  if (c->status) return NULL;
  td_node_lock(&node->op.node);
  c->status = td_saved_variable_unpack(&node->table, &node->op.node, &table, c->error);
  td_node_unlock(&node->op.node);
  td_calc_keep(c, table);
  td_tensor *sum = td_calc_sum(c, MUL(rows, rows_of(c, table, indices)), 1);
  if (c->status) return NULL;
  const td_input_metadata *like = &node->factors;
  td_sizes sizes = {.n_dims = like->n_dims};
  memcpy(sizes.at, like->sizes, sizeof sizes.at);
  return td_calc_reshape(c, sum, &sizes);
}

/* Saved: the indices (or the rows that won), their bags, what rows are multiplied by. */
static td_tensor *
bag_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  bag_node *node = (bag_node *)op;
  td_tensor *indices = SAVED(0), *bags = SAVED(1), *other = SAVED(2);
  if (node->mode == TD_BAG_MAX) return bag_max_gradient(c, node, grad, indices);
  td_tensor *rows = rows_of(c, grad, bags);
  if (which == 1) return bag_factor_gradient(c, node, rows, indices);
  if (other && node->factors.defined) { /* as a column, with its history */
    td_sizes column = {.n_dims = 2, .at = {-1, 1}};
    other = td_calc_reshape(c, other, &column);
  }
  if (other) rows = MUL(rows, other);
  return bag_weight_gradient(c, node, rows, indices);
}
static const td_op_class bag_class = {
    {.name = "EmbeddingBagBackward0", .apply = td_op_apply, .release_variables = bag_release},
    .formula = td_calc_formula,
    .calc = bag_calc};

/* The largest of each bag by column, and which rows they are, both [bags, width]. */
static td_status
bag_max(td_tensor *weight, td_tensor *indices, td_tensor *bags, td_tensor *counts, td_tensor **out,
        td_tensor **winners, td_error *error) {
  int64_t n_bags = counts->sizes[0], width = weight->sizes[1], sizes[] = {n_bags, width};
  TD_TRY(td_tensor_new(weight->dtype, weight->device, 2, sizes, out, error));
  TD_TRY(td_tensor_new(TD_INT64, weight->device, 2, sizes, winners, error));
  int64_t *seen = TD_NEW_N(int64_t, n_bags + 1);
  for (int64_t i = 0; i < td_tensor_n_elements(indices); i++) {
    int64_t bag = (int64_t)td_tensor_get(bags, i), row = (int64_t)td_tensor_get(indices, i);
    bool first = seen[bag]++ == 0;
    for (int64_t j = 0; j < width; j++) {
      double value = td_tensor_get(weight, row * width + j);
      if (!first && value <= td_tensor_get(*out, bag * width + j)) continue;
      td_tensor_set(*out, bag * width + j, value);
      ((int64_t *)td_tensor_data(*winners))[bag * width + j] = row;
    }
  }
  free(seen);
  return TD_OK;
}

static td_status
bag_sum(td_tensor *weight, td_tensor *indices, td_tensor *bags, td_tensor *counts,
        td_tensor *factors, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *rows = rows_of(c, weight, indices), *zeros = NULL, *sum = NULL;
  if (factors) rows = MUL(rows, factors);
  if (!c->status)
    c->status = td_tensor_new(weight->dtype, weight->device, 2,
                              (int64_t[]){counts->sizes[0], weight->sizes[1]}, &zeros, error);
  td_calc_keep(c, zeros);
  if (!c->status) c->status = td_op_index_add(zeros, 0, bags, rows, &sum, error);
  return td_calc_end(c, td_calc_keep(c, sum), out);
}

static td_status
check_bags(td_tensor *weight, td_tensor *indices, td_tensor *offsets, td_error *error) {
  TD_TRY(check_table("embedding_bag", weight, indices, error));
  if (indices->n_dims == 1 && !offsets)
    return td_error_set(error, TD_VALUE, "offsets has to be a 1D Tensor but got None");
  if (indices->n_dims == 2 && offsets)
    return td_error_set(error, TD_INVALID,
                        "if input is 2D, then offsets has to be None, as input is treated is a "
                        "mini-batch of fixed length sequences.");
  if (indices->n_dims == 1 || indices->n_dims == 2) return TD_OK;
  return td_error_set(error, TD_INVALID,
                      "input has to be 1D or 2D Tensor, but got Tensor of "
                      "dimension %d",
                      indices->n_dims);
}

td_status
td_op_embedding_bag(td_tensor *weight, td_tensor *indices, td_tensor *offsets, td_bag mode,
                    bool sparse, td_tensor *per_sample_weights, td_tensor **out, td_error *error) {
  TD_LOCAL(flat);
  TD_LOCAL(bags);
  TD_LOCAL(counts);
  TD_LOCAL(bare);
  TD_LOCAL(factors);
  TD_LOCAL(winners);
  TD_LOCAL(weights);
  TD_TRY(check_bags(weight, indices, offsets, error));
  if (per_sample_weights && mode != TD_BAG_SUM)
    return td_error_set(
        error, TD_UNSUPPORTED,
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only "
        "supported for mode='sum'.");
  TD_TRY(flat_indices(indices, &flat, error));
  TD_TRY(bags_of(indices, offsets, &bags, &counts, error));
  bare = td_tensor_detach(weight);
  if (per_sample_weights) {
    weights = td_tensor_detach(per_sample_weights);
    TD_LOCAL(line);
    TD_TRY(td_op_reshape(weights, 1, (int64_t[]){-1}, &line, error));
    td_tensor_unref(weights);
    weights = TD_TAKE(line);
  }
  td_calc calc = {.error = error};
  td_tensor *made =
      mode == TD_BAG_MAX ? NULL : row_factors(&calc, mode, bags, counts, weights, weight->dtype);
  TD_TRY(td_calc_end(&calc, made, &factors));
  if (mode == TD_BAG_MAX)
    TD_TRY(bag_max(bare, flat, bags, counts, out, &winners, error));
  else
    TD_TRY(bag_sum(bare, flat, bags, counts, factors, out, error));
  bag_node *node = td_op_begin(&bag_class, sizeof *node, TD_INPUTS(weight, per_sample_weights));
  if (!node) return TD_OK;
  node->weight = td_op_metadata(weight);
  node->mode = mode;
  node->sparse = sparse;
  if (per_sample_weights) {
    node->factors = td_op_metadata(per_sample_weights);
    td_saved_variable_init(&node->table, weight, false);
  }
  td_op_save(&node->op, 0, mode == TD_BAG_MAX ? winners : flat);
  td_op_save(&node->op, 1, bags);
  td_op_save(&node->op, 2, per_sample_weights ? per_sample_weights : factors);
  td_op_end(&node->op, *out);
  return TD_OK;
}
