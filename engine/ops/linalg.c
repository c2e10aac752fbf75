/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Products with a node of their own; matmul.c composes them. */
#include "engine/ops/linalg.h"

#include "engine/ops/gemm.h"
#include "engine/ops/gradient_sum.h"
#include "engine/ops/op.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

static td_matrix
matrix_of(const td_tensor *tensor, int row_dim, int column_dim) {
  return (td_matrix){.data = td_tensor_data(tensor),
                     .row_step = row_dim < 0 ? 0 : tensor->strides[row_dim],
                     .column_step = column_dim < 0 ? 0 : tensor->strides[column_dim]};
}

/* PyTorch has words of its own for each. */
static td_status
refuse_dims(const char *what, int a_dims, int a_wanted, int b_dims, td_error *error) {
  bool first = a_dims != a_wanted;
  if (strcmp(what, "dot") == 0)
    return td_error_set(error, TD_SHAPE, "1D tensors expected, but got %dD and %dD tensors", a_dims,
                        b_dims);
  if (strcmp(what, "bmm") == 0)
    return td_error_set(error, TD_SHAPE, "batch%d must be a 3D tensor", first ? 1 : 2);
  if (strcmp(what, "mm") == 0)
    return td_error_set(error, TD_SHAPE, first ? "self must be a matrix" : "mat2 must be a matrix");
  if (strcmp(what, "addmm") == 0)
    return td_error_set(error, TD_SHAPE, "mat%d must be a matrix, got %d-D tensor", first ? 1 : 2,
                        first ? a_dims : b_dims);
  return td_error_set(error, TD_SHAPE, "vector + matrix @ vector expected, got %d, %d, %d", 1,
                      a_dims, b_dims);
}

static td_status
check_pair(const char *what, td_tensor *a, int a_dims, td_tensor *b, int b_dims, td_device *device,
           td_error *error) {
  if (a->n_dims != a_dims || b->n_dims != b_dims)
    return refuse_dims(what, a->n_dims, a_dims, b->n_dims, error);
  TD_TRY(td_op_same_dtype(a, b, error));
  if (a->dtype == TD_BOOL)
    return td_error_set(error, TD_DTYPE, "%s is not there for %s", what, td_dtype_name(TD_BOOL));
  return td_op_common_device(2, (td_tensor *[]){a, b}, device, error);
}

/* [n, k] x [k, m] -> [n, m] */
static td_status
mm_result(const char *what, td_tensor *a, td_tensor *b, td_tensor **out, td_error *error) {
  td_device device;
  TD_TRY(check_pair(what, a, 2, b, 2, &device, error));
  int64_t n = a->sizes[0], k = a->sizes[1], m = b->sizes[1];
  if (b->sizes[0] != k)
    return td_error_set(error, TD_SHAPE,
                        "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                        (long long)n, (long long)k, (long long)b->sizes[0], (long long)m);
  TD_TRY(td_tensor_new_empty(a->dtype, device, 2, (int64_t[]){n, m}, out, error));
  if (!TD_LAUNCH("mm.out", 1, *out, a, b)) return TD_OK;
  td_gemm(a->dtype, n, k, m, matrix_of(a, 0, 1), matrix_of(b, 0, 1), matrix_of(*out, 0, 1), false);
  return TD_OK;
}

/* C = A B:  dA = dC B^T */
static td_status
left_gradient(td_tensor *grad, td_tensor *right, td_tensor **out, td_error *error) {
  TD_LOCAL(transposed);
  TD_TRY(td_op_t(right, &transposed, error));
  return td_op_mm(grad, transposed, out, error);
}

/* C = A B:  dB = A^T dC */
static td_status
right_gradient(td_tensor *grad, td_tensor *left, td_tensor **out, td_error *error) {
  TD_LOCAL(transposed);
  TD_TRY(td_op_t(left, &transposed, error));
  return td_op_mm(transposed, grad, out, error);
}

/* Each side is kept only for the other's gradient. */
static void
save_pair(td_op_node *op, td_tensor *left, td_tensor *right) {
  td_op_save(op, 0, td_requires_grad(right) ? left : NULL);
  td_op_save(op, 1, td_requires_grad(left) ? right : NULL);
}

static td_status
mm_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_TRY(td_op_saved(op, which == 0 ? 1 : 0, &other, error));
  return which == 0 ? left_gradient(grad, other, out, error)
                    : right_gradient(grad, other, out, error);
}
static const td_op_class mm_class = TD_OP_CLASS_LAST_FIRST("MmBackward0", mm_formula);

td_status
td_op_mm(td_tensor *self, td_tensor *mat2, td_tensor **out, td_error *error) {
  TD_TRY(mm_result("mm", self, mat2, out, error));
  td_op_node *op = td_op_begin(&mm_class, sizeof *op, TD_INPUTS(self, mat2));
  if (!op) return TD_OK;
  save_pair(op, self, mat2);
  td_op_end(op, *out);
  return TD_OK;
}

/* r = beta bias + alpha A B, per matrix or per batch */
typedef struct addmm_node {
  td_op_node op;
  td_input_metadata bias;
  double beta, alpha;
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
  TD_TRY(scaled(grad, which == 0 ? node->beta : node->alpha, &now, error));
  if (which == 0) return td_op_reduce_to(now, &node->bias, out, error);
  return product(op, now, which - 1, out, error);
}

static td_status
addmm_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  return scaled_formula(mm_formula, op, grad, which, out, error);
}
static const td_op_class addmm_class = TD_OP_CLASS("AddmmBackward0", addmm_formula);

static td_status
add_bias(td_tensor *bias, td_tensor *product, double beta, double alpha, td_tensor **out,
         td_error *error) {
  TD_LOCAL(bare);
  TD_LOCAL(expanded);
  TD_LOCAL(weighted);
  TD_LOCAL(whole);
  assert(product);
  bare = td_tensor_detach(bias);
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
  addmm_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(bias, a, b));
  if (!node) return TD_OK;
  node->bias = td_op_metadata(bias);
  node->beta = beta;
  node->alpha = alpha;
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

/* c = A b:  dA = dc b^T (outer product),  db = A^T dc */
static td_status
mv_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_TRY(td_op_saved(op, which == 0 ? 1 : 0, &other, error));
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
  TD_TRY(check_pair("mv", self, 2, vec, 1, &device, error));
  int64_t n = self->sizes[0], k = self->sizes[1];
  if (vec->sizes[0] != k)
    return td_error_set(error, TD_SHAPE, "size mismatch, got %lld, %lldx%lld,%lld", (long long)n,
                        (long long)n, (long long)k, (long long)vec->sizes[0]);
  TD_TRY(td_tensor_new_empty(self->dtype, device, 1, &n, out, error));
  if (TD_LAUNCH("mv.out", 1, *out, self, vec))
    td_gemm(self->dtype, n, k, 1, matrix_of(self, 0, 1), matrix_of(vec, 0, -1),
            matrix_of(*out, 0, -1), false);
  td_op_node *op = td_op_begin(&mv_class, sizeof *op, TD_INPUTS(self, vec));
  if (!op) return TD_OK;
  save_pair(op, self, vec);
  td_op_end(op, *out);
  return TD_OK;
}

/* c = a . b:  da = dc b,  db = dc a */
static td_status
dot_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_TRY(td_op_saved(op, which == 0 ? 1 : 0, &other, error));
  return td_op_mul(grad, other, out, error);
}
static const td_op_class dot_class = TD_OP_CLASS("DotBackward0", dot_formula);

td_status
td_op_dot(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  td_device device;
  TD_TRY(check_pair("dot", self, 1, other, 1, &device, error));
  int64_t k = self->sizes[0];
  if (other->sizes[0] != k)
    return td_error_set(error, TD_SHAPE,
                        "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have "
                        "the same number of elements, but got %lld and %lld elements respectively",
                        (long long)k, (long long)other->sizes[0], (long long)k,
                        (long long)other->sizes[0]);
  TD_TRY(td_tensor_new_empty(self->dtype, device, 0, NULL, out, error));
  if (TD_LAUNCH("dot.out", 1, *out, self, other))
    td_gemm(self->dtype, 1, k, 1, matrix_of(self, -1, 0), matrix_of(other, 0, -1),
            matrix_of(*out, -1, -1), false);
  td_op_node *op = td_op_begin(&dot_class, sizeof *op, TD_INPUTS(self, other));
  if (!op) return TD_OK;
  save_pair(op, self, other);
  td_op_end(op, *out);
  return TD_OK;
}

/* C = A B per batch:  dA = dC B^T,  dB = A^T dC */
static td_status
bmm_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  TD_LOCAL(other);
  TD_LOCAL(transposed);
  TD_TRY(td_op_saved(op, which == 0 ? 1 : 0, &other, error));
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

td_status
td_op_bmm(td_tensor *self, td_tensor *mat2, td_tensor **out, td_error *error) {
  td_device device;
  TD_TRY(check_pair("bmm", self, 3, mat2, 3, &device, error));
  int64_t b = self->sizes[0], n = self->sizes[1], k = self->sizes[2], m = mat2->sizes[2];
  if (mat2->sizes[0] != b || mat2->sizes[1] != k)
    return td_error_set(error, TD_SHAPE,
                        "Expected size for first two dimensions of batch2 tensor to be: [%lld, "
                        "%lld] but got: [%lld, %lld].",
                        (long long)b, (long long)k, (long long)mat2->sizes[0],
                        (long long)mat2->sizes[1]);
  TD_TRY(td_tensor_new_empty(self->dtype, device, 3, (int64_t[]){b, n, m}, out, error));
  int64_t n_left = TD_LAUNCH("bmm.out", 1, *out, self, mat2) ? b : 0;
  for (int64_t i = 0; i < n_left; i++)
    td_gemm(self->dtype, n, k, m, batch_of(self, i), batch_of(mat2, i), batch_of(*out, i), false);
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
  TD_LOCAL(a);
  TD_LOCAL(b);
  TD_LOCAL(product);
  a = td_tensor_detach(batch1);
  b = td_tensor_detach(batch2);
  TD_TRY(td_op_bmm(a, b, &product, error));
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
