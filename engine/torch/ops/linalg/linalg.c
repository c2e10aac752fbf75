/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Products with a node of their own; matmul.c composes them. */
#include "engine/torch/ops/linalg/linalg.h"

#include "engine/torch/graph/semantics.h"
#include "engine/torch/ops/base/gradient_sum.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/scalar.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/linalg/gemm.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/product.h"
#include "engine/torch/ops/shape/shape.h"

static td_matrix
matrix_of(const td_tensor *tensor, int row_dim, int column_dim) {
  return (td_matrix){.data = td_tensor_data(tensor),
                     .row_step = row_dim < 0 ? 0 : tensor->strides[row_dim],
                     .column_step = column_dim < 0 ? 0 : tensor->strides[column_dim]};
}

/* [n, k] x [k, m] -> [n, m], wide */
static td_status
mm_result(const char *what, td_tensor *left, td_tensor *right, td_tensor **out, td_error *error) {
  td_device device;
  TD_LOCAL(a);
  TD_LOCAL(b);
  if (left->n_dims != 2 || right->n_dims != 2)
    return td_product_refuse_dims(what, left->n_dims, 2, right->n_dims, error);
  int64_t n = left->sizes[0], k = left->sizes[1], m = right->sizes[1];
  if (right->sizes[0] != k)
    return td_error_set(error, TD_SHAPE,
                        "%s%smat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                        td_policy(texts_of_2_15) ? what : "", td_policy(texts_of_2_15) ? ": " : "",
                        (long long)n, (long long)k, (long long)right->sizes[0], (long long)m);
  TD_TRY(td_product_check(what, left, 2, right, 2, &device, error));
  TD_TRY(td_op_widen(left, &a, error));
  TD_TRY(td_op_widen(right, &b, error));
  TD_TRY(td_tensor_new_empty(a->dtype, device, 2, (int64_t[]){n, m}, out, error));
  if (!TD_LAUNCH("mm.out", 1, *out, a, b)) return TD_OK;
  td_gemm(a->dtype, n, k, m, matrix_of(a, 0, 1), matrix_of(b, 0, 1), matrix_of(*out, 0, 1), false);
  return TD_OK;
}

/* The other side of a product, as its gradient needs it: conj(B) for A, conj(A) for B. */
static td_status
saved_other(td_op_node *op, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_TRY(td_op_saved(op, which == 0 ? 1 : 0, &other, error));
  return td_op_conj(other, out, error);
}

/* C = A B:  dA = dC B^H */
static td_status
left_gradient(td_tensor *grad, td_tensor *right, td_tensor **out, td_error *error) {
  TD_LOCAL(transposed);
  TD_TRY(td_op_t(right, &transposed, error));
  return td_op_mm(grad, transposed, out, error);
}

/* C = A B:  dB = A^H dC */
static td_status
right_gradient(td_tensor *grad, td_tensor *left, td_tensor **out, td_error *error) {
  TD_LOCAL(transposed);
  TD_TRY(td_op_t(left, &transposed, error));
  return td_op_mm(transposed, grad, out, error);
}

/* Each side is kept only for the other's gradient. */
static void
save_pair(td_op_node *op, td_tensor *left, td_tensor *right) {
  uint32_t n = op->node.n_outputs;
  td_op_save(op, 0, td_op_has_edge(op, n - 1) ? left : NULL);
  td_op_save(op, 1, td_op_has_edge(op, n - 2) ? right : NULL);
}

/* A matrix that lies by columns gets a gradient that does: the transposed product, turned. */
static td_status
turned_gradient(td_tensor *grad, td_tensor *other, uint32_t which, td_tensor **out,
                td_error *error) {
  TD_LOCAL(turned);
  TD_LOCAL(product);
  TD_TRY(td_op_t(grad, &turned, error));
  TD_TRY(which == 0 ? td_op_mm(other, turned, &product, error)
                    : td_op_mm(turned, other, &product, error));
  return td_op_t(product, out, error);
}

static td_status
product_gradient(td_tensor *grad, td_tensor *other, uint32_t which, bool by_columns,
                 td_tensor **out, td_error *error) {
  if (by_columns) return turned_gradient(grad, other, which, out, error);
  return which == 0 ? left_gradient(grad, other, out, error)
                    : right_gradient(grad, other, out, error);
}

typedef struct mm_node {
  td_op_node op;
  bool by_columns[2];
} mm_node;

static bool
lies_by_columns(const td_tensor *matrix) {
  return matrix->strides[0] == 1 && matrix->strides[1] == matrix->sizes[0];
}

static td_status
mm_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_TRY(saved_other(op, which, &other, error));
  return product_gradient(grad, other, which, ((mm_node *)op)->by_columns[which], out, error);
}
static const td_op_class mm_class = TD_OP_CLASS_LAST_FIRST("MmBackward0", mm_formula);

td_status
td_op_mm(td_tensor *self, td_tensor *mat2, td_tensor **out, td_error *error) {
  TD_TRY(mm_result("mm", self, mat2, out, error));
  TD_TRY(td_op_rounded(out, self->dtype, error));
  mm_node *node = td_op_begin(&mm_class, sizeof *node, TD_INPUTS(self, mat2));
  if (!node) return TD_OK;
  node->by_columns[0] = lies_by_columns(self);
  node->by_columns[1] = lies_by_columns(mat2);
  save_pair(&node->op, self, mat2);
  td_op_end(&node->op, *out);
  return TD_OK;
}

/* r = beta bias + alpha A B, per matrix or per batch */
typedef struct addmm_node {
  td_op_node op;
  double beta, alpha;
  bool by_columns[2]; /* of two matrices */
} addmm_node;

static td_status
scaled(td_tensor *grad, double factor, td_tensor **out, td_error *error) {
  TD_LOCAL(number);
  if (factor == 1) {
    *out = td_tensor_ref(grad);
    return TD_OK;
  }
  number = td_op_scalar(grad, factor, false);
  return td_op_mul(grad, number, out, error);
}

static td_status
scaled_formula(td_op_formula product, td_op_node *op, td_tensor *grad, uint32_t which,
               td_tensor **out, td_error *error) {
  addmm_node *node = (addmm_node *)op;
  TD_LOCAL(now);
  if (which == 0) return scaled(grad, node->beta, out, error);
  TD_TRY(scaled(grad, node->alpha, &now, error));
  return product(op, now, which - 1, out, error);
}

static td_status
addmm_product(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_TRY(saved_other(op, which, &other, error));
  return product_gradient(grad, other, which, ((addmm_node *)op)->by_columns[which], out, error);
}

static td_status
addmm_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return scaled_formula(addmm_product, op, grad, which, out, error);
}
static const td_op_class addmm_class = TD_OP_CLASS("AddmmBackward0", addmm_formula);

static td_status
add_bias(td_tensor *bias, td_tensor *product, double beta, double alpha, td_tensor **out,
         td_error *error) {
  TD_LOCAL(wide);
  TD_LOCAL(bare);
  TD_LOCAL(expanded);
  TD_LOCAL(weighted);
  TD_LOCAL(whole);
  assert(product);
  TD_TRY(td_op_widen(bias, &wide, error));
  bare = td_tensor_detach(wide);
  TD_TRY(td_op_expand(bare, product->n_dims, product->sizes, &expanded, error));
  if (beta == 1 && alpha == 1) {
    td_kernel_add_into(product, expanded);
    *out = td_tensor_ref(product);
    return TD_OK;
  }
  TD_TRY(scaled(expanded, beta, &weighted, error));
  TD_TRY(scaled(product, alpha, &whole, error));
  return beta == 0 ? (*out = TD_TAKE(whole), TD_OK) : td_op_add(weighted, whole, 1, out, error);
}

static td_status
add_product(const td_op_class *klass, td_tensor *bias, td_tensor *a, td_tensor *b, double beta,
            double alpha, td_tensor *product, td_tensor **out, td_error *error) {
  td_device device;
  TD_TRY(td_op_common_device(3, (td_tensor *[]){bias, a, b}, &device, error));
  TD_TRY(td_op_same_dtype(bias, a, error));
  TD_TRY(add_bias(bias, product, beta, alpha, out, error));
  TD_TRY(td_op_rounded(out, a->dtype, error));
  addmm_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(bias, a, b));
  if (!node) return TD_OK;
  node->beta = beta;
  node->alpha = alpha;
  node->by_columns[0] = a->n_dims == 2 && lies_by_columns(a);
  node->by_columns[1] = b->n_dims == 2 && lies_by_columns(b);
  save_pair(&node->op, a, b);
  td_op_end(&node->op, *out);
  return TD_OK;
}

td_status
td_op_addmm_scaled(td_tensor *bias, td_tensor *mat1, td_tensor *mat2, double beta, double alpha,
                   td_tensor **out, td_error *error) {
  TD_LOCAL(product);
  TD_TRY(mm_result("addmm", mat1, mat2, &product, error));
  return add_product(&addmm_class, bias, mat1, mat2, beta, alpha, product, out, error);
}

td_status
td_op_addmm(td_tensor *bias, td_tensor *mat1, td_tensor *mat2, td_tensor **out, td_error *error) {
  return td_op_addmm_scaled(bias, mat1, mat2, 1, 1, out, error);
}

/* c = A b:  dA = dc b^H (outer product),  db = A^H dc */
static td_status
mv_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_TRY(saved_other(op, which, &other, error));
  TD_LOCAL(left);
  TD_LOCAL(right);
  if (which == 0) {
    TD_TRY(td_op_unsqueeze(grad, 1, &left, error));
    TD_TRY(td_op_unsqueeze(other, 0, &right, error));
    return td_op_mul(left, right, out, error);
  }
  TD_TRY(td_op_t(other, &left, error));
  return td_op_mv(left, grad, out, error);
}
static const td_op_class mv_class = TD_OP_CLASS("MvBackward0", mv_formula);

td_status
td_op_mv(td_tensor *self, td_tensor *vec, td_tensor **out, td_error *error) {
  td_device device;
  TD_TRY(td_product_check("mv", self, 2, vec, 1, &device, error));
  int64_t n = self->sizes[0], k = self->sizes[1];
  if (vec->sizes[0] != k)
    return td_error_set(error, TD_SHAPE,
                        td_policy(name_operations)
                            ? "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)"
                            : "size mismatch, got %lld, %lldx%lld,%lld",
                        (long long)n, (long long)n, (long long)k, (long long)vec->sizes[0]);
  TD_LOCAL(a);
  TD_LOCAL(b);
  TD_TRY(td_op_widen(self, &a, error));
  TD_TRY(td_op_widen(vec, &b, error));
  TD_TRY(td_tensor_new_empty(a->dtype, device, 1, &n, out, error));
  if (TD_LAUNCH("mv.out", 1, *out, a, b))
    td_gemm(a->dtype, n, k, 1, matrix_of(a, 0, 1), matrix_of(b, 0, -1), matrix_of(*out, 0, -1),
            false);
  TD_TRY(td_op_rounded(out, self->dtype, error));
  td_op_node *op = td_op_begin(&mv_class, sizeof *op, TD_INPUTS(self, vec));
  if (!op) return TD_OK;
  save_pair(op, self, vec);
  td_op_end(op, *out);
  return TD_OK;
}

/* c = a . b:  da = dc conj(b),  db = dc conj(a) */
static td_status
dot_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_TRY(saved_other(op, which, &other, error));
  return td_op_mul(grad, other, out, error);
}
static const td_op_class dot_class = TD_OP_CLASS("DotBackward0", dot_formula);

td_status
td_op_dot(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  td_device device;
  TD_TRY(td_product_check("dot", self, 1, other, 1, &device, error));
  int64_t k = self->sizes[0];
  if (other->sizes[0] != k)
    return td_error_set(error, TD_SHAPE,
                        "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have "
                        "the same number of elements, but got %lld and %lld elements respectively",
                        (long long)k, (long long)other->sizes[0], (long long)k,
                        (long long)other->sizes[0]);
  TD_LOCAL(a);
  TD_LOCAL(b);
  TD_TRY(td_op_widen(self, &a, error));
  TD_TRY(td_op_widen(other, &b, error));
  TD_TRY(td_tensor_new_empty(a->dtype, device, 0, NULL, out, error));
  if (TD_LAUNCH("dot.out", 1, *out, a, b))
    td_gemm(a->dtype, 1, k, 1, matrix_of(a, -1, 0), matrix_of(b, 0, -1), matrix_of(*out, -1, -1),
            false);
  TD_TRY(td_op_rounded(out, self->dtype, error));
  td_op_node *op = td_op_begin(&dot_class, sizeof *op, TD_INPUTS(self, other));
  if (!op) return TD_OK;
  save_pair(op, self, other);
  td_op_end(op, *out);
  return TD_OK;
}

/* C = A B per batch:  dA = dC B^H,  dB = A^H dC */
static td_status
bmm_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_LOCAL(transposed);
  TD_TRY(saved_other(op, which, &other, error));
  TD_TRY(td_op_transpose(other, 1, 2, &transposed, error));
  return which == 0 ? td_op_bmm(grad, transposed, out, error)
                    : td_op_bmm(transposed, grad, out, error);
}
static const td_op_class bmm_class = TD_OP_CLASS_LAST_FIRST("BmmBackward0", bmm_formula);

static td_matrix
batch_of(const td_tensor *tensor, int64_t batch) {
  td_matrix matrix = matrix_of(tensor, 1, 2);
  int64_t element = (int64_t)td_dtype_size(tensor->dtype);
  matrix.data = (char *)matrix.data + batch * tensor->strides[0] * element;
  return matrix;
}

/* [b, n, k] x [b, k, m] -> [b, n, m], wide */
static td_status
bmm_result(td_tensor *self, td_tensor *mat2, td_tensor **out, td_error *error) {
  td_device device;
  TD_LOCAL(left);
  TD_LOCAL(right);
  TD_TRY(td_product_check("bmm", self, 3, mat2, 3, &device, error));
  int64_t b = self->sizes[0], n = self->sizes[1], k = self->sizes[2], m = mat2->sizes[2];
  if (mat2->sizes[0] != b || mat2->sizes[1] != k)
    return td_error_set(error, TD_SHAPE,
                        "Expected size for first two dimensions of batch2 tensor to be: [%lld, "
                        "%lld] but got: [%lld, %lld].",
                        (long long)b, (long long)k, (long long)mat2->sizes[0],
                        (long long)mat2->sizes[1]);
  TD_TRY(td_op_widen(self, &left, error));
  TD_TRY(td_op_widen(mat2, &right, error));
  TD_TRY(td_tensor_new_empty(left->dtype, device, 3, (int64_t[]){b, n, m}, out, error));
  int64_t n_left = TD_LAUNCH("bmm.out", 1, *out, left, right) ? b : 0;
  for (int64_t i = 0; i < n_left; i++)
    td_gemm(left->dtype, n, k, m, batch_of(left, i), batch_of(right, i), batch_of(*out, i), false);
  return TD_OK;
}

td_status
td_op_bmm(td_tensor *self, td_tensor *mat2, td_tensor **out, td_error *error) {
  TD_TRY(bmm_result(self, mat2, out, error));
  TD_TRY(td_op_rounded(out, self->dtype, error));
  td_op_node *op = td_op_begin(&bmm_class, sizeof *op, TD_INPUTS(self, mat2));
  if (!op) return TD_OK;
  save_pair(op, self, mat2);
  td_op_end(op, *out);
  return TD_OK;
}

static td_status
baddbmm_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return scaled_formula(bmm_formula, op, grad, which, out, error);
}
static const td_op_class baddbmm_class = TD_OP_CLASS("BaddbmmBackward0", baddbmm_formula);

td_status
td_op_baddbmm(td_tensor *bias, td_tensor *batch1, td_tensor *batch2, double beta, double alpha,
              td_tensor **out, td_error *error) {
  TD_LOCAL(product);
  TD_TRY(bmm_result(batch1, batch2, &product, error));
  return add_product(&baddbmm_class, bias, batch1, batch2, beta, alpha, product, out, error);
}

td_status
td_op_outer(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  TD_LOCAL(column);
  if (self->n_dims != 1 || other->n_dims != 1)
    return td_error_set(error, TD_SHAPE, "outer: Expected 1-D argument %s, but got %d-D",
                        self->n_dims != 1 ? "self" : "vec2",
                        self->n_dims != 1 ? self->n_dims : other->n_dims);
  TD_TRY(td_op_reshape(self, 2, (int64_t[]){self->sizes[0], 1}, &column, error));
  return td_op_mul(column, other, out, error);
}
