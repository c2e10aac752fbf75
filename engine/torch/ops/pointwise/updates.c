/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations in place. The arithmetic ones work without a temporary where they leave no history,
 * for optimizers. */
#include "engine/torch/ops/base/gradient_sum.h"
#include "engine/torch/ops/pointwise/compare.h"
#include "engine/torch/ops/pointwise/fused.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/inplace.h"
#include "engine/torch/ops/shape/shape.h"

#include "engine/torch/graph/version.h"
#include "engine/torch/graph/views.h"

static bool
is_tracked(const td_tensor *self, const td_tensor *other) {
  return td_grad_mode() && !td_inference_mode() &&
         (td_requires_grad(self) || td_requires_grad(other));
}

/* update() writes elements of one dense tensor after another. */
static bool
is_plain(const td_tensor *self, const td_tensor *other) {
  return !self->sparse && !other->sparse && !is_tracked(self, other);
}

static td_status
check_operand(td_tensor *self, td_tensor *other, td_error *error) {
  td_sizes own = td_op_sizes(self), others = td_op_sizes(other), both;
  td_device device;
  TD_TRY(td_check_overlap(self, error));
  TD_TRY(td_check_operands(td_worst_overlap(self, &other, 1), TD_OVERLAP_FULL, error));
  TD_TRY(td_op_common_device(2, (td_tensor *[]){self, other}, &device, error));
  TD_TRY(td_op_broadcast(&own, &others, &both, error));
  if (both.n_dims == own.n_dims && memcmp(both.at, own.at, own.n_dims * sizeof *own.at) == 0)
    return TD_OK;
  char *from = td_sizes_text(own.n_dims, own.at), *to = td_sizes_text(both.n_dims, both.at);
  td_error_set(error, TD_SHAPE, "output with shape %s doesn't match the broadcast shape %s", from,
               to);
  free(from);
  free(to);
  return TD_SHAPE;
}

#define INTO_ROWS(expression)                                                                      \
  TD_DISPATCH_ALL(                                                                                 \
      self->dtype, const T scale = (T)alpha; while (td_walk_row(&walk)) {                          \
        T *to = walk.at[0];                                                                        \
        const T *from = walk.at[1];                                                                \
        for (int64_t i = 0; i < walk.n; i++) {                                                     \
          const T x = to[i * walk.step[0]], y = from[i * walk.step[1]];                            \
          to[i * walk.step[0]] = (T)(expression);                                                  \
        }                                                                                          \
      })

static td_status
update(td_tensor *self, td_tensor *other, bool multiply, double alpha, const char *name,
       td_error *error) {
  TD_TRY(td_check_in_place(self, false, error));
  TD_TRY(check_operand(self, other, error));
  td_dtype dtype = td_op_promote(self, other);
  if (!td_op_can_cast(dtype, self->dtype))
    return td_error_set(error, TD_DTYPE,
                        "result type %s can't be cast to the desired output type %s",
                        td_op_scalar_type(dtype), td_op_scalar_type(self->dtype));
  TD_LOCAL(cast);
  alpha = td_dtype_round(self->dtype, alpha);
  bool is_wider = td_dtype_is_half(self->dtype) && dtype != self->dtype;
  if (multiply)
    TD_TRY(td_op_cast_factor(other, self->dtype, &cast, error));
  else
    TD_TRY(td_kernel_cast(other, is_wider ? TD_FLOAT32 : self->dtype, &cast, error));
  td_walk walk;
  td_walk_init(&walk, self->n_dims, self->sizes, 2, (const td_tensor *[]){self, cast});
  if (multiply)
    INTO_ROWS(x * y * scale)
  else if (td_fused_can(self->dtype))
    td_fused_rows(TD_FUSED_ADD, self->dtype, &walk, alpha);
  else
    INTO_ROWS(x + scale * y)
  td_tensor_bump(self, name);
  return TD_OK;
}

/* An operation that fails has taken a number all the same: PyTorch makes the node first. */
static td_status
end(td_in_place *now, td_status status, td_tensor *other, td_tensor *out, td_error *error) {
  if (status && is_tracked(now->self, other)) td_sequence_nr_next();
  return td_in_place_end(now, status, out, error);
}

td_status
td_op_add_into(td_tensor *self, td_tensor *other, double alpha, td_error *error) {
  if (is_plain(self, other)) return update(self, other, false, alpha, "add_", error);
  td_in_place now;
  td_tensor *out = NULL;
  TD_TRY(td_in_place_begin(&now, "add_", TD_INPUTS(self, other), error));
  td_status status = td_op_add(now.alias, other, alpha, &out, error);
  return end(&now, status, other, out, error);
}

td_status
td_op_sub_into(td_tensor *self, td_tensor *other, double alpha, td_error *error) {
  TD_TRY(td_op_check_sub(self->dtype, other->dtype, error));
  if (is_plain(self, other)) return update(self, other, false, -alpha, "sub_", error);
  td_in_place now;
  td_tensor *out = NULL;
  TD_TRY(td_in_place_begin(&now, "sub_", TD_INPUTS(self, other), error));
  td_status status = td_op_sub(now.alias, other, alpha, &out, error);
  return end(&now, status, other, out, error);
}

typedef td_status (*binary)(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);

static td_status
in_place(binary op, const char *name, td_tensor *self, td_tensor *other, td_error *error) {
  td_in_place now;
  td_tensor *out = NULL;
  TD_TRY(td_in_place_begin(&now, name, TD_INPUTS(self, other), error));
  td_status status = op(now.alias, other, &out, error);
  return end(&now, status, other, out, error);
}

td_status
td_op_mul_into(td_tensor *self, td_tensor *other, td_error *error) {
  if (is_plain(self, other)) return update(self, other, true, 1, "mul_", error);
  return in_place(td_op_mul, "mul_", self, other, error);
}

td_status
td_op_div_into(td_tensor *self, td_tensor *other, td_error *error) {
  return in_place(td_op_div, "div_", self, other, error);
}

#define TD_UNARY(name, ...)                                                                        \
  td_status td_op_##name##_into(td_tensor *self, td_error *error) {                                \
    td_in_place now;                                                                               \
    td_tensor *out = NULL;                                                                         \
    TD_TRY(td_op_check_dtype(#name "_", self->dtype, error));                                      \
    TD_TRY(td_in_place_begin(&now, #name "_", &self, 1, error));                                   \
    td_status status = td_op_##name(now.alias, &out, error);                                       \
    return td_in_place_end(&now, status, out, error);                                              \
  }
#include "engine/torch/ops/pointwise/unary.def"
#undef TD_UNARY

static td_status
zeros_like(td_tensor *grad, td_tensor **out, td_error *error) {
  return td_tensor_new_like(grad, out, error);
}

/* Nothing of what was there before is left. */
static td_status
overwritten_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                    td_error *error) {
  return zeros_like(grad, out, error);
}
static const td_op_class zero_class = TD_OP_CLASS("ZeroBackward0", overwritten_formula);
static const td_op_class fill_class = TD_OP_CLASS("FillBackward2", overwritten_formula);

static td_status
fill_tensor_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                    td_error *error) {
  return which == 0 ? zeros_like(grad, out, error) : td_op_sum(grad, out, error);
}
static const td_op_class fill_tensor_class = TD_OP_CLASS("FillBackward3", fill_tensor_formula);

/* A comparison leaves nothing of what was there either. */
static td_status
compare_into(const td_op_class *klass, const char *name, binary op, td_tensor *self,
             td_tensor *other, td_error *error) {
  td_write write;
  TD_LOCAL(found);
  TD_TRY(td_write_begin(&write, klass, sizeof(td_op_node), name, TD_INPUTS(self, other), error));
  TD_TRY(td_write_check(&write, check_operand(self, other, error)));
  TD_TRY(td_write_check(&write, op(self, other, &found, error)));
  td_kernel_copy(self, found);
  return td_write_end(&write, error);
}

#define TD_COMPARE(name, operator, dispatch, node)                                                 \
  td_status td_op_##name##_into(td_tensor *self, td_tensor *other, bool is_number,                 \
                                td_error *error) {                                                 \
    static const td_op_class of_tensor = TD_OP_CLASS(node "Backward1", overwritten_formula),       \
                             of_number = TD_OP_CLASS(node "Backward0", overwritten_formula);       \
    return compare_into(is_number ? &of_number : &of_tensor, #name "_", td_op_##name, self, other, \
                        error);                                                                    \
  }
#include "engine/torch/ops/pointwise/compare.def"
#undef TD_COMPARE

static td_status
want_number(const td_tensor *value, td_error *error) {
  if (value->n_dims == 0) return TD_OK;
  return td_error_set(error, TD_SHAPE,
                      "fill_ only supports 0-dimension value tensor but got tensor with %d "
                      "dimensions.",
                      value->n_dims);
}

static td_status
fill(const td_op_class *klass, const char *name, td_tensor *self, td_complex128 value,
     td_error *error) {
  td_write write;
  TD_TRY(td_write_begin(&write, klass, sizeof(td_op_node), name, &self, 1, error));
  td_kernel_fill(self, value);
  return td_write_end(&write, error);
}

td_status
td_op_fill_into(td_tensor *self, td_complex128 value, td_error *error) {
  TD_TRY(td_op_check_number(self->dtype, (double)value, "_t", error));
  TD_TRY(td_op_check_real(self->dtype, value, error));
  return fill(&fill_class, "fill_", self, value, error);
}

td_status
td_op_zero_into(td_tensor *self, td_error *error) {
  return fill(&zero_class, "zero_", self, 0, error);
}

td_status
td_op_fill_tensor_into(td_tensor *self, td_tensor *value, td_error *error) {
  td_write write;
  TD_TRY(td_write_begin(&write, &fill_tensor_class, sizeof(td_op_node), "fill_",
                        TD_INPUTS(self, value), error));
  td_complex128 number = value->is_number ? td_tensor_get_complex(value, 0) : 0;
  TD_TRY(td_write_check(&write, want_number(value, error)));
  TD_TRY(td_write_check(&write, td_op_check_real(self->dtype, number, error)));
  TD_TRY(td_write_check(&write, td_check_overlap(self, error)));
  td_kernel_fill(self, td_tensor_get_complex(value, 0));
  return td_write_end(&write, error);
}

typedef struct copy_node {
  td_op_node op;
  td_input_metadata source;
} copy_node;

static td_status
copy_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  if (which == 0) return zeros_like(grad, out, error);
  const td_input_metadata *source = &((copy_node *)op)->source;
  return td_op_to(grad, source->dtype, source->device, out, error);
}
static const td_op_class copy_class = TD_OP_CLASS("CopyBackwards", copy_formula);

td_status
td_op_copy_into(td_tensor *self, td_tensor *source, td_error *error) {
  td_write write;
  TD_LOCAL(detached);
  TD_LOCAL(expanded);
  TD_TRY(td_write_begin(&write, &copy_class, sizeof(copy_node), "copy_", TD_INPUTS(self, source),
                        error));
  if (write.node) ((copy_node *)write.node)->source = td_op_metadata(source);
  if (self == source) return td_write_end(&write, error);
  TD_TRY(td_write_check(&write, check_operand(self, source, error)));
  detached = td_tensor_detach(source);
  TD_TRY(
      td_write_check(&write, td_op_expand(detached, self->n_dims, self->sizes, &expanded, error)));
  td_kernel_copy(self, expanded);
  return td_write_end(&write, error);
}
