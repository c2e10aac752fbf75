/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/reduction/product.h"

#include "engine/torch/graph/semantics.h"

/* PyTorch has words of its own for each. */
td_status
td_product_refuse_dims(const char *what, int a_dims, int a_wanted, int b_dims, td_error *error) {
  bool first = a_dims != a_wanted;
  if (td_policy(texts_of_2_15) && strstr("addmm", what))
    return td_error_set(error, TD_SHAPE, "%s: %s must be a matrix, got %d-D tensor", what,
                        first ? "self" : "mat2", first ? a_dims : b_dims);
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
same_dtype(const char *what, const td_tensor *a, const td_tensor *b, td_error *error) {
  if (a->dtype == b->dtype) return TD_OK;
  const char *first = td_op_scalar_type(a->dtype), *second = td_op_scalar_type(b->dtype);
  if (strcmp(what, "dot") == 0)
    return td_error_set(error, TD_DTYPE,
                        "dot : expected both vectors to have same dtype, but found %s and %s",
                        first, second);
  if (strcmp(what, "mm") == 0 && td_policy(name_operations))
    return td_error_set(error, TD_DTYPE,
                        "expected m1 and m2 to have the same dtype, but got: %s != %s",
                        td_dtype_cpp_name(a->dtype), td_dtype_cpp_name(b->dtype));
  if (strcmp(what, "addmm") == 0)
    return td_error_set(error, TD_DTYPE,
                        td_policy(name_operations)
                            ? "mat1 and mat2 must have the same dtype, but got %s and %s"
                            : "mat1 and mat2 must have the same dtype",
                        first, second);
  if (strcmp(what, "mv") == 0 && td_policy(name_operations))
    return td_error_set(error, TD_DTYPE,
                        "addmv input tensors must have the same dtype, but got %s, %s, and %s",
                        second, first, second);
  return td_op_same_dtype(a, b, error);
}

td_status
td_product_check(const char *what, td_tensor *a, int a_dims, td_tensor *b, int b_dims,
                 td_device *device, td_error *error) {
  if (a->n_dims != a_dims || b->n_dims != b_dims)
    return td_product_refuse_dims(what, a->n_dims, a_dims, b->n_dims, error);
  TD_TRY(same_dtype(what, a, b, error));
  TD_TRY(td_op_check_dtype(what, a->dtype, error));
  return td_op_common_device(2, (td_tensor *[]){a, b}, device, error);
}
