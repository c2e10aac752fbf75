/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Losses that compare element by element. */
#include "engine/ops/calc.h"
#include "engine/ops/loss.h"
#include "engine/ops/pointwise.h"

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
  td_tensor *a = td_calc_keep(c, td_tensor_detach(self));
  td_tensor *b = td_calc_keep(c, td_tensor_detach(target));
  TD_TRY(td_calc_end(c, reduced(c, formula(c, a, b, knee), reduction), out));
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

/* The difference from the side whose gradient it is. */
#define DIFFERENCE() SUB(SAVED((int)which), SAVED(1 - (int)which))
#define NODE ((distance_node *)op)
#define CALC(name)                                                                                 \
  static td_tensor *name##_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which)

/* (a - b)^2:  da = 2 (a - b) */
static td_tensor *
square(td_calc *c, td_tensor *a, td_tensor *b, double knee) {
  td_tensor *difference = SUB(a, b);
  return MUL(difference, difference);
}

CALC(mse) {
  return MUL(SCALE(DIFFERENCE(), 2 * NODE->factor), grad);
}
static const td_op_class mse_class = TD_CALC_CLASS("MseLossBackward0", mse_calc);

td_status
td_op_mse_loss(td_tensor *self, td_tensor *target, td_reduction reduction, td_tensor **out,
               td_error *error) {
  return distance_loss(&mse_class, "mse_loss", square, 0, self, target, reduction, out, error);
}

/* d = |a - b|: d^2 / 2 beta below beta, else d - beta / 2 */
static td_tensor *
smooth_l1(td_calc *c, td_tensor *a, td_tensor *b, double beta) {
  td_tensor *d = ABS(SUB(a, b));
  if (beta == 0) return d;
  td_tensor *below = td_calc_lt(c, d, NUMBER(d, beta));
  return WHERE(below, SCALE(MUL(d, d), 0.5 / beta), PLUS(d, -0.5 * beta));
}

CALC(smooth_l1) {
  double beta = NODE->knee;
  td_tensor *x = DIFFERENCE();
  if (beta == 0) return MUL(SCALE(SIGN(x), NODE->factor), grad);
  td_tensor *below = td_calc_lt(c, ABS(x), NUMBER(x, beta));
  return MUL(SCALE(WHERE(below, SCALE(x, 1 / beta), SIGN(x)), NODE->factor), grad);
}
static const td_op_class smooth_l1_class = TD_CALC_CLASS("SmoothL1LossBackward0", smooth_l1_calc);

td_status
td_op_smooth_l1_loss(td_tensor *self, td_tensor *target, td_reduction reduction, double beta,
                     td_tensor **out, td_error *error) {
  if (beta < 0)
    return td_error_set(error, TD_INVALID,
                        "smooth_l1_loss does not support negative values for beta.");
  return distance_loss(&smooth_l1_class, "smooth_l1_loss", smooth_l1, beta, self, target, reduction,
                       out, error);
}

/* d = |a - b|: d^2 / 2 below delta, else delta (d - delta / 2) */
static td_tensor *
huber(td_calc *c, td_tensor *a, td_tensor *b, double delta) {
  td_tensor *d = ABS(SUB(a, b));
  td_tensor *below = td_calc_lt(c, d, NUMBER(d, delta));
  return WHERE(below, SCALE(MUL(d, d), 0.5), SCALE(PLUS(d, -0.5 * delta), delta));
}

CALC(huber) {
  double delta = NODE->knee;
  td_tensor *x = DIFFERENCE(), *below = td_calc_lt(c, ABS(x), NUMBER(x, delta));
  return MUL(SCALE(WHERE(below, x, SCALE(SIGN(x), delta)), NODE->factor), grad);
}
static const td_op_class huber_class = TD_CALC_CLASS("HuberLossBackward0", huber_calc);

td_status
td_op_huber_loss(td_tensor *self, td_tensor *target, td_reduction reduction, double delta,
                 td_tensor **out, td_error *error) {
  if (delta <= 0)
    return td_error_set(error, TD_INVALID,
                        "huber_loss does not support non-positive values for delta.");
  return distance_loss(&huber_class, "huber_loss", huber, delta, self, target, reduction, out,
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

/* -(t log x + (1 - t) log(1 - x)):  dx = (x - t) / (x (1 - x)),  dt = log(1 - x) - log x */
CALC(bce) {
  td_tensor *x = SAVED(0), *t = SAVED(1), *slope;
  if (which == 0) {
    td_tensor *below = MUL(RSUB(1, x), x), *least = NUMBER(x, 1e-12);
    slope = DIV(SUB(x, t), WHERE(td_calc_lt(c, below, least), least, below));
  } else
    slope = SUB(LOG(RSUB(1, x)), LOG(x));
  return MUL(weighted(c, SCALE(slope, NODE->factor), SAVED(2)), grad);
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
  td_tensor *x = td_calc_keep(c, td_tensor_detach(self));
  td_tensor *t = td_calc_keep(c, td_tensor_detach(target));
  td_tensor *losses = SUB(MUL(PLUS(t, -1), bounded_log(c, RSUB(1, x))), MUL(t, bounded_log(c, x)));
  TD_TRY(td_calc_end(c, reduced(c, weighted(c, losses, weight), reduction), out));
  bce_end(&bce_class, self, target, weight, NULL, reduction, *out);
  return TD_OK;
}

/* 1 + (p - 1) t, or NULL for p = 1 */
static td_tensor *
log_weight(td_calc *c, td_tensor *target, td_tensor *pos_weight) {
  return pos_weight ? PLUS(MUL(PLUS(pos_weight, -1), target), 1) : NULL;
}

/* (1 - t) x + w log(1 + e^-x):  dx = 1 - t - w (1 - s),  dt = -x - ... with s = sigmoid x */
CALC(bce_logits) {
  td_tensor *x = SAVED(0), *t = SAVED(1), *p = extra(c, NODE), *s = td_calc_sigmoid(c, x), *slope;
  if (which == 0) {
    td_tensor *w = log_weight(c, t, p), *missing = RSUB(1, s);
    slope = SUB(RSUB(1, t), w ? MUL(w, missing) : missing);
  } else if (p) {
    slope = SUB(LOG(RSUB(1, s)), MUL(p, LOG(s)));
  } else
    slope = NEG(x);
  return MUL(weighted(c, SCALE(slope, NODE->factor), SAVED(2)), grad);
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
  TD_TRY(td_op_want_floating(self, "binary_cross_entropy_with_logits", error));
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
