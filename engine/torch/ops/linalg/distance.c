/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Losses that compare element by element. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/nn/loss.h"
#include "engine/torch/ops/pointwise/pointwise.h"

typedef struct distance_node {
  td_op_node op;
  double factor; /* 1, or 1 / n for a mean */
  double knee;   /* beta or delta */
  td_saved_variable extra;
} distance_node;

static td_tensor *
reduced(td_calc *c, td_tensor *losses, td_reduction reduction) {
  td_tensor *out = NULL;
  if (reduction == TD_REDUCTION_SUM) return td_calc_sum_all(c, losses);
  if (reduction == TD_REDUCTION_NONE || c->status) return losses;
  c->status = td_op_mean(losses, &out, c->error);
  return td_calc_keep(c, out);
}

/* The losses of two tensors without history. */
typedef td_tensor *(*distance)(td_calc *c, td_tensor *a, td_tensor *b, double knee);

static td_status
distance_of_equals(const td_op_class *klass, distance formula, double knee, td_tensor *self,
                   td_tensor *target, td_reduction reduction, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *losses = formula(c, td_calc_wide(c, self), td_calc_wide(c, target), knee);
  losses = td_calc_to(c, losses, td_op_promote(self, target));
  TD_TRY(td_calc_end(c, reduced(c, losses, reduction), out));
  distance_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self, target));
  if (!node) return TD_OK;
  node->factor = reduction == TD_REDUCTION_MEAN ? 1.0 / (double)td_tensor_n_elements(self) : 1;
  node->knee = knee;
  td_op_save(&node->op, 0, self);
  td_op_save(&node->op, 1, target);
  td_op_end(&node->op, *out);
  return TD_OK;
}

static td_status
expand_to(td_tensor *self, const td_sizes *sizes, td_tensor **out, td_error *error) {
  if (self->n_dims != sizes->n_dims ||
      memcmp(self->sizes, sizes->at, (size_t)sizes->n_dims * sizeof *sizes->at) != 0)
    return td_op_expand(self, sizes->n_dims, sizes->at, out, error);
  *out = td_tensor_ref(self);
  return TD_OK;
}

static td_status
expand_pair(td_tensor *self, td_tensor *target, td_tensor **wide, td_tensor **wide_target,
            td_error *error) {
  td_sizes a = td_op_sizes(self), b = td_op_sizes(target), sizes;
  TD_TRY(td_op_broadcast(&a, &b, &sizes, error));
  TD_TRY(expand_to(self, &sizes, wide, error));
  return expand_to(target, &sizes, wide_target, error);
}

static td_status
distance_loss(const td_op_class *klass, const char *name, distance formula, double knee,
              td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
              td_error *error) {
  TD_LOCAL(wide);
  TD_LOCAL(wide_target);
  TD_TRY(td_op_same_dtype(self, target, error));
  TD_TRY(td_op_want_floating(self, name, error));
  TD_TRY(expand_pair(self, target, &wide, &wide_target, error));
  return distance_of_equals(klass, formula, knee, wide, wide_target, reduction, out, error);
}

#define NODE ((distance_node *)op)

/* (a - b)^2:  da = 2 (a - b) */
static td_tensor *
square(td_calc *c, td_tensor *a, td_tensor *b, double knee) {
  td_tensor *difference = SUB(a, b);
  return MUL(difference, difference);
}

/* The gradient of a side whose gradients are (grad, that side, the other side). */
#define SIDE(name)                                                                                 \
  AS_ONE(name##_back_class, name##_kernel, ((double[2]){NODE->factor, NODE->knee}), grad,          \
         SAVED((int)which), SAVED(1 - (int)which))

/* The derivative of such a kernel. By the gradient: the kernel itself, of gg. By the sides: gg grad
 * times the second derivative of the loss. */
static td_tensor *
of_all(td_calc *c, td_tensor *first, td_tensor *products) {
  return c->status || first->n_dims == products->n_dims ? products : td_calc_sum_all(c, products);
}

static td_tensor *
averaged(td_calc *c, td_op_node *op, td_tensor *products) {
  if (c->status || KERNEL_NUMBERS[0] == 1) return products;
  return td_calc_div_number(c, products, (double)td_tensor_n_elements(products));
}

KERNEL(mse) {
  return MUL(SCALE(SUB(at[1], at[2]), 2 * numbers[0]), at[0]);
}
static const td_op_class mse_back_class;
CALC(mse_back) {
  td_tensor *first = SAVED(0), *self = SAVED(1), *target = SAVED(2);
  if (which == 0)
    return of_all(c, first, AS_ONE(mse_back_class, mse_kernel, KERNEL_NUMBERS, grad, self, target));
  td_tensor *local = averaged(c, op, SCALE(MUL(grad, first), 2));
  return which == 1 ? local : NEG(local);
}
static const td_op_class mse_back_class = TD_CALC_CLASS("MseLossBackwardBackward0", mse_back_calc);

CALC(mse) {
  return SIDE(mse);
}
static const td_op_class mse_class = TD_CALC_CLASS("MseLossBackward0", mse_calc);

td_status
td_op_mse_loss(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
               td_error *error) {
  return distance_loss(&mse_class, "mse_cpu", square, 0, self, target, reduction, out, error);
}

/* d = |a - b|: d^2 / 2 beta below beta, else d - beta / 2 */
static td_tensor *
smooth_l1(td_calc *c, td_tensor *a, td_tensor *b, double beta) {
  td_tensor *d = ABS(SUB(a, b));
  if (beta == 0) return d;
  td_tensor *below = td_calc_lt(c, d, NUMBER(d, beta));
  return WHERE(below, SCALE(MUL(d, d), 0.5 / beta), PLUS(d, -0.5 * beta));
}

KERNEL(smooth_l1) {
  double factor = numbers[0], beta = numbers[1];
  td_tensor *x = SUB(at[1], at[2]);
  if (beta == 0) return MUL(SCALE(SIGN(x), factor), at[0]);
  td_tensor *below = td_calc_lt(c, ABS(x), NUMBER(x, beta));
  return MUL(SCALE(WHERE(below, SCALE(x, 1 / beta), SIGN(x)), factor), at[0]);
}

/* Where the loss is quadratic, as numbers. */
static td_tensor *
is_below(td_calc *c, td_tensor *self, td_tensor *target, double knee) {
  td_tensor *distance = ABS(SUB(td_calc_bare(c, self), td_calc_bare(c, target)));
  td_tensor *below = td_calc_lt(c, distance, NUMBER(distance, knee));
  return c->status ? NULL : td_calc_to(c, below, self->dtype);
}

static const td_op_class smooth_l1_back_class;
CALC(smooth_l1_back) {
  td_tensor *first = SAVED(0), *self = SAVED(1), *target = SAVED(2);
  if (which == 0)
    return of_all(
        c, first,
        AS_ONE(smooth_l1_back_class, smooth_l1_kernel, KERNEL_NUMBERS, grad, self, target));
  double beta = KERNEL_NUMBERS[1];
  td_tensor *local = MUL(MUL(grad, first), is_below(c, self, target, beta));
  local = averaged(c, op, td_calc_div_number(c, local, beta == 0 ? 1 : beta));
  return which == 1 ? local : NEG(local);
}
static const td_op_class smooth_l1_back_class =
    TD_CALC_CLASS("SmoothL1LossBackwardBackward0", smooth_l1_back_calc);

CALC(smooth_l1) {
  return SIDE(smooth_l1);
}
static const td_op_class smooth_l1_class = TD_CALC_CLASS("SmoothL1LossBackward0", smooth_l1_calc);

td_status
td_op_smooth_l1_loss(td_tensor *self, td_tensor *target, td_reduction reduction, double beta,
                     td_tensor **out, td_error *error) {
  if (beta < 0)
    return td_error_set(error, TD_INVALID,
                        "smooth_l1_loss does not support negative values for beta.");
  return distance_loss(&smooth_l1_class, "smooth_l1_cpu", smooth_l1, beta, self, target, reduction,
                       out, error);
}

/* d = |a - b|: d^2 / 2 below delta, else delta (d - delta / 2) */
static td_tensor *
huber(td_calc *c, td_tensor *a, td_tensor *b, double delta) {
  td_tensor *d = ABS(SUB(a, b));
  td_tensor *below = td_calc_lt(c, d, NUMBER(d, delta));
  return WHERE(below, SCALE(MUL(d, d), 0.5), SCALE(PLUS(d, -0.5 * delta), delta));
}

KERNEL(huber) {
  double delta = numbers[1];
  td_tensor *x = SUB(at[1], at[2]), *below = td_calc_lt(c, ABS(x), NUMBER(x, delta));
  return MUL(SCALE(WHERE(below, x, SCALE(SIGN(x), delta)), numbers[0]), at[0]);
}
static const td_op_class huber_back_class;
CALC(huber_back) {
  td_tensor *first = SAVED(0), *self = SAVED(1), *target = SAVED(2);
  if (which == 0 && !c->status && first->n_dims == self->n_dims)
    return AS_ONE(huber_back_class, huber_kernel, KERNEL_NUMBERS, grad, self, target);
  if (which == 0)
    return td_calc_sum_all(c, MUL(AS_ONE(huber_back_class, huber_kernel, KERNEL_NUMBERS,
                                         NUMBER(self, 1), self, target),
                                  grad));
  td_tensor *local = MUL(MUL(grad, first), is_below(c, self, target, KERNEL_NUMBERS[1]));
  local = averaged(c, op, local);
  return which == 1 ? local : NEG(local);
}
static const td_op_class huber_back_class =
    TD_CALC_CLASS("HuberLossBackwardBackward0", huber_back_calc);

CALC(huber) {
  return SIDE(huber);
}
static const td_op_class huber_class = TD_CALC_CLASS("HuberLossBackward0", huber_calc);

td_status
td_op_huber_loss(td_tensor *self, td_tensor *target, td_reduction reduction, double delta,
                 td_tensor **out, td_error *error) {
  if (delta <= 0)
    return td_error_set(error, TD_INVALID,
                        "huber_loss does not support non-positive values for delta.");
  return distance_loss(&huber_class, "huber_cpu", huber, delta, self, target, reduction, out,
                       error);
}

td_status
td_op_l1_loss(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
              td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *wide = NULL, *wide_target = NULL;
  c->status = expand_pair(self, target, &wide, &wide_target, error);
  td_calc_keep(c, wide);
  td_calc_keep(c, wide_target);
  return td_calc_end(c, reduced(c, ABS(SUB(wide, wide_target)), reduction), out);
}

td_status
td_op_kl_div(td_tensor *self, td_tensor *target, td_reduction reduction, bool log_target,
             td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *entropy = NULL, *losses;
  TD_TRY(td_op_check_dtype("kl_div", td_op_promote(self, target), error));
  if (log_target) {
    losses = MUL(EXP(target), SUB(target, self));
  } else {
    c->status = td_op_xlogy(target, target, &entropy, error);
    td_calc_keep(c, entropy);
    losses = SUB(entropy, MUL(target, self));
  }
  return td_calc_end(c, reduced(c, losses, reduction), out);
}

static td_tensor *
extra(td_calc *c, distance_node *node) {
  td_tensor *tensor = NULL;
  td_node_lock(&node->op.node);
  if (!c->status)
    c->status = td_saved_variable_unpack(&node->extra, &node->op.node, &tensor, c->error);
  td_node_unlock(&node->op.node);
  return td_calc_keep(c, tensor);
}

static void
release_all(td_node *node) {
  td_op_release(node);
  td_saved_variable_release(&((distance_node *)node)->extra);
}

static td_tensor *
weighted(td_calc *c, td_tensor *losses, td_tensor *weight) {
  return weight ? MUL(losses, weight) : losses;
}

/* max(log x, -100), as PyTorch. */
static td_tensor *
bounded_log(td_calc *c, td_tensor *x) {
  td_tensor *log = LOG(x), *least = NUMBER(x, -100);
  return WHERE(td_calc_lt(c, log, least), least, log);
}

/* -(t log x + (1 - t) log(1 - x)):  dx = (x - t) / (x (1 - x)) */
KERNEL(bce) {
  td_tensor *x = at[1], *below = MUL(RSUB(1, x), x), *least = NUMBER(x, 1e-12);
  td_tensor *slope = DIV(SUB(x, at[2]), WHERE(td_calc_lt(c, below, least), least, below));
  return MUL(SCALE(slope, numbers[0]), at[0]);
}

/* Its derivative, by grad: (x - t) / (x (1 - x)),  by x: (x^2 - 2 x t + t) / (x (1 - x))^2,  by t:
 * -1 / (x (1 - x)). */
CALC(bce_back) {
  td_tensor *first = SAVED(0), *x = SAVED(1), *t = SAVED(2);
  if (which == 2) return averaged(c, op, DIV(MUL(grad, first), MUL(PLUS(x, -1), x)));
  td_tensor *above = PLUS(x, 1e-12), *below = PLUS(RSUB(1, x), 1e-12);
  if (which == 0)
    return of_all(c, first, averaged(c, op, MUL(DIV(SUB(x, t), MUL(above, below)), grad)));
  td_tensor *top = ADD(SUB(MUL(x, x), MUL(SCALE(x, 2), t)), t);
  return averaged(c, op, MUL(DIV(top, MUL(SQUARE(above), SQUARE(below))), MUL(grad, first)));
}
static const td_op_class bce_back_class =
    TD_CALC_CLASS("BinaryCrossEntropyBackwardBackward0", bce_back_calc);

CALC(bce) {
  td_tensor *x = SAVED(0), *t = SAVED(1), *weight = SAVED(2), *logit = NULL;
  const double numbers[2] = {NODE->factor};
  if (which == 0) {
    td_sizes sizes = td_op_sizes(x ? x : grad);
    td_tensor *each = weight ? td_calc_expand(c, MUL(grad, weight), &sizes) : grad;
    return AS_ONE(bce_back_class, bce_kernel, numbers, each, x, t);
  }
  if (!c->status) c->status = td_op_logit_with(x, (double[3]){-1}, &logit, c->error);
  td_tensor *local = weighted(c, MUL(NEG(td_calc_keep(c, logit)), grad), weight);
  if (c->status || NODE->factor == 1) return local;
  return td_calc_div_number(c, local, (double)td_tensor_n_elements(local));
}
static const td_op_class bce_class = TD_CALC_CLASS("BinaryCrossEntropyBackward0", bce_calc);

static void
bce_end(const td_op_class *klass, td_tensor *self, td_tensor *target, td_tensor *weight,
        td_tensor *pos_weight, td_reduction reduction, td_tensor *result) {
  distance_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self, target));
  if (!node) return;
  node->factor = reduction == TD_REDUCTION_MEAN ? 1.0 / (double)td_tensor_n_elements(self) : 1;
  td_op_save(&node->op, 0, self);
  td_op_save(&node->op, 1, target);
  td_op_save(&node->op, 2, weight);
  td_saved_variable_init(&node->extra, pos_weight, false);
  td_op_end(&node->op, result);
}

static td_status
check_same_sizes(const char *what, const td_tensor *self, const td_tensor *target,
                 td_error *error) {
  if (td_tensor_same_sizes(self, target)) return TD_OK;
  char *of_self = td_tensor_shape_text(self), *of_target = td_tensor_shape_text(target);
  of_self[strlen(of_self) - 1] = of_target[strlen(of_target) - 1] = '\0';
  td_error_set(error, TD_VALUE, what, of_target + 1, of_self + 1);
  free(of_self);
  free(of_target);
  return TD_VALUE;
}

static td_status
check_probabilities(const td_tensor *self, td_error *error) {
  bool fine = true;
  td_walk walk;
  td_walk_init(&walk, self->n_dims, self->sizes, 1, (const td_tensor *[]){self});
  TD_DISPATCH_FLOATING(
      self->dtype, while (td_walk_row(&walk)) for (int64_t i = 0; i < walk.n; i++) {
        const T x = ((const T *)walk.at[0])[i * walk.step[0]];
        fine = fine && x >= 0 && x <= 1;
      })
  if (fine) return TD_OK;
  return td_error_set(error, TD_INVALID, "all elements of input should be between 0 and 1");
}

td_status
td_op_binary_cross_entropy(td_tensor *self, td_tensor *target, td_tensor *weight,
                           td_reduction reduction, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  TD_TRY(check_same_sizes("Using a target size (torch.Size([%s])) that is different to the input "
                          "size (torch.Size([%s])) is deprecated. Please ensure they have the same "
                          "size.",
                          self, target, error));
  TD_TRY(td_op_same_dtype(self, target, error));
  TD_TRY(td_op_want_floating(self, "binary_cross_entropy", error));
  TD_TRY(check_probabilities(self, error));
  td_tensor *x = td_calc_wide(c, self), *t = td_calc_wide(c, target);
  td_tensor *losses = SUB(MUL(PLUS(t, -1), bounded_log(c, RSUB(1, x))), MUL(t, bounded_log(c, x)));
  losses = td_calc_to(c, weighted(c, losses, weight), self->dtype);
  TD_TRY(td_calc_end(c, reduced(c, losses, reduction), out));
  bce_end(&bce_class, self, target, weight, NULL, reduction, *out);
  return TD_OK;
}

/* 1 + (p - 1) t, or NULL for p = 1 */
static td_tensor *
log_weight(td_calc *c, td_tensor *target, td_tensor *pos_weight) {
  return pos_weight ? PLUS(MUL(PLUS(pos_weight, -1), target), 1) : NULL;
}

static td_tensor *
log_sigmoid(td_calc *c, td_tensor *x) {
  td_tensor *out = NULL;
  if (!c->status) c->status = td_op_logsigmoid_with(x, (double[3]){0}, &out, c->error);
  return td_calc_keep(c, out);
}

/* (1 - t) x + w log(1 + e^-x), with w = 1 + (p - 1) t and s = sigmoid x:
 * dx = s - t, or ((p t + 1 - t) s - p t);  dt = -x, or log sigmoid(-x) - p log sigmoid x */
CALC(bce_logits) {
  td_tensor *x = SAVED(0), *t = SAVED(1), *p = extra(c, NODE), *slope;
  if (which == 0) {
    td_tensor *pt = p ? MUL(p, t) : NULL, *s = td_calc_sigmoid(c, x);
    slope = p ? SUB(MUL(SUB(PLUS(pt, 1), t), s), pt) : SUB(s, t);
  } else
    slope = p ? SUB(log_sigmoid(c, NEG(x)), MUL(log_sigmoid(c, x), p)) : NEG(x);
  td_tensor *local = weighted(c, MUL(slope, grad), SAVED(2));
  if (c->status || NODE->factor == 1) return local;
  return td_calc_div_number(c, local, (double)td_tensor_n_elements(local));
}
static const td_op_class bce_logits_class = {{.name = "BinaryCrossEntropyWithLogitsBackward0",
                                              .apply = td_op_apply,
                                              .release_variables = release_all},
                                             .formula = td_calc_formula,
                                             .calc = bce_logits_calc};

td_status
td_op_binary_cross_entropy_with_logits(td_tensor *self, td_tensor *target, td_tensor *weight,
                                       td_tensor *pos_weight, td_reduction reduction,
                                       td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  TD_TRY(check_same_sizes("Target size (torch.Size([%s])) must be the same as input size "
                          "(torch.Size([%s]))",
                          self, target, error));
  TD_TRY(td_op_want_floating(self, "log_sigmoid_cpu", error));
  td_tensor *x = td_calc_keep(c, td_tensor_detach(self));
  td_tensor *t = td_calc_keep(c, td_tensor_detach(target));
  td_tensor *minus_log = LOG(PLUS(EXP(NEG(ABS(x))), 1)), *zero = NUMBER(x, 0);
  td_tensor *softplus = ADD(minus_log, WHERE(td_calc_lt(c, x, zero), NEG(x), zero));
  td_tensor *w = log_weight(c, t, pos_weight);
  td_tensor *losses = ADD(MUL(RSUB(1, t), x), w ? MUL(w, softplus) : softplus);
  TD_TRY(td_calc_end(c, reduced(c, weighted(c, losses, weight), reduction), out));
  bce_end(&bce_logits_class, self, target, weight, pos_weight, reduction, *out);
  return TD_OK;
}
