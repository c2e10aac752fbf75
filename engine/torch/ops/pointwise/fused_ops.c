/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations on two or three tensors that PyTorch rounds once: lerp, addcmul, addcdiv. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/pointwise/fused.h"

/* A formula of fused.h if the operands have one dtype; false otherwise. */
static bool
fuse(td_fused fused, const char *name, td_tensor *const *operands, uint32_t n, double value,
     td_tensor **out, td_status *status, td_error *error) {
  td_sizes sizes = td_op_sizes(operands[0]);
  td_device device;
  bool can = td_fused_can(operands[0]->dtype);
  for (uint32_t i = 0; i < n; i++)
    can = can && !operands[i]->sparse && operands[i]->dtype == operands[0]->dtype;
  if (!can) return false;
  *status = td_op_common_device((int)n, operands, &device, error);
  for (uint32_t i = 1; i < n && !*status; i++) {
    td_sizes own = td_op_sizes(operands[i]), both = sizes;
    *status = td_op_broadcast(&both, &own, &sizes, error);
  }
  if (!*status)
    *status = td_tensor_new_empty(operands[0]->dtype, device, sizes.n_dims, sizes.at, out, error);
  if (*status) return true;
  td_walk walk;
  td_walk_init_with(&walk, name, value, 1, sizes.n_dims, sizes.at, (int)n + 1,
                    (const td_tensor *[]){*out, operands[0], operands[1], operands[n - 1]});
  td_fused_rows(fused, (*out)->dtype, &walk, value);
  return true;
}

CALC(lerp) {
  double weight = ((td_number_node *)op)->number;
  return SCALE(grad, which == 0 ? 1 - weight : weight);
}
static const td_op_class lerp_class = TD_CALC_CLASS("LerpBackward0", lerp_calc);

/* From whichever end is nearer, as PyTorch. */
static td_tensor *
lerp_of(td_calc *c, td_tensor *a, td_tensor *b, double weight) {
  td_tensor *way = SUB(b, a);
  return weight < 0.5 ? ADD(a, SCALE(way, weight)) : SUB(b, SCALE(way, 1 - weight));
}

td_status
td_op_lerp(td_tensor *self, td_tensor *end, double weight, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_status status = TD_OK;
  TD_TRY(td_op_same_dtype(self, end, error));
  TD_TRY(td_op_check_dtype("lerp", self->dtype, error));
  if (!fuse(TD_FUSED_LERP, "lerp", TD_INPUTS(self, end), weight, out, &status, error))
    status = td_calc_end(c, lerp_of(c, td_calc_bare(c, self), td_calc_bare(c, end), weight), out);
  TD_TRY(status);
  td_op_end_with(&lerp_class, 2, (td_tensor *[]){self, end}, weight, *out);
  return TD_OK;
}

CALC(lerp_tensor) {
  td_tensor *weight = SAVED(2);
  if (which == 2) return MUL(grad, CONJ(SUB(SAVED(1), SAVED(0))));
  return MUL(grad, CONJ(which == 0 ? RSUB(1, weight) : weight));
}
static const td_op_class lerp_tensor_class = TD_CALC_CLASS("LerpBackward1", lerp_tensor_calc);

static td_status
lerp_plain(td_tensor *self, td_tensor *end, td_tensor *weight, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *a = td_calc_bare(c, self), *b = td_calc_bare(c, end), *w = td_calc_bare(c, weight);
  td_tensor *size = td_dtype_is_complex(w->dtype) ? ABS(w) : w, *half = NUMBER(size, 0.5);
  td_tensor *way = SUB(b, a), *near = ADD(a, MUL(way, w)), *far = SUB(b, MUL(way, RSUB(1, w)));
  return td_calc_end(c, WHERE(td_calc_lt(c, size, half), near, far), out);
}

td_status
td_op_lerp_tensor(td_tensor *self, td_tensor *end, td_tensor *weight, td_tensor **out,
                  td_error *error) {
  td_status status = td_op_check_dtype("lerp_tensor", td_op_promote(self, end), error);
  TD_TRY(status);
  if (!fuse(TD_FUSED_LERP_TENSOR, "lerp", TD_INPUTS(self, end, weight), 0, out, &status, error))
    status = lerp_plain(self, end, weight, out, error);
  TD_TRY(status);
  td_op_end_with(&lerp_tensor_class, 3, (td_tensor *[]){self, end, weight}, 0, *out);
  return TD_OK;
}

CALC(addcmul) {
  double value = ((td_number_node *)op)->number;
  if (which == 0) return grad;
  return MUL(grad, CONJ(SCALE(SAVED(3 - (int)which), value)));
}
static const td_op_class addcmul_class = TD_CALC_CLASS("AddcmulBackward0", addcmul_calc);

td_status
td_op_addcmul(td_tensor *self, td_tensor *a, td_tensor *b, double value, td_tensor **out,
              td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_status status = TD_OK;
  TD_TRY(td_op_check_dtype("addcmul", self->dtype, error));
  if (!fuse(TD_FUSED_ADDCMUL, "addcmul", TD_INPUTS(self, a, b), value, out, &status, error)) {
    td_tensor *product = MUL(td_calc_bare(c, a), td_calc_bare(c, b));
    status = td_calc_end(c, td_calc_add(c, td_calc_bare(c, self), product, value), out);
  }
  TD_TRY(status);
  td_op_end_with(&addcmul_class, 3, (td_tensor *[]){self, a, b}, value, *out);
  return TD_OK;
}

CALC(addcdiv) {
  double value = ((td_number_node *)op)->number;
  if (which == 0) return grad;
  td_tensor *a = SAVED(1), *b = SAVED(2);
  if (which == 1) return MUL(grad, CONJ(DIV(NUMBER(b, value), b)));
  return MUL(NEG(grad), CONJ(DIV(SCALE(a, value), MUL(b, b))));
}
static const td_op_class addcdiv_class = TD_CALC_CLASS("AddcdivBackward0", addcdiv_calc);

td_status
td_op_addcdiv(td_tensor *self, td_tensor *a, td_tensor *b, double value, td_tensor **out,
              td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_status status = TD_OK;
  TD_TRY(td_op_check_dtype("addcdiv", td_op_promote(a, b), error));
  if (!fuse(TD_FUSED_ADDCDIV, "addcdiv", TD_INPUTS(self, a, b), value, out, &status, error)) {
    td_tensor *quotient = DIV(td_calc_bare(c, a), td_calc_bare(c, b));
    status = td_calc_end(c, td_calc_add(c, td_calc_bare(c, self), quotient, value), out);
  }
  TD_TRY(status);
  td_op_end_with(&addcdiv_class, 3, (td_tensor *[]){self, a, b}, value, *out);
  return TD_OK;
}
