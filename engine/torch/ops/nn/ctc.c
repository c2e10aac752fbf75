/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/ctc.h"

#include "engine/torch/ops/base/op.h"

#include <math.h>

enum { LOG_PROBS, TARGETS, LENGTHS };

typedef struct ctc_node {
  td_op_node op;
  td_saved_variable target_lengths;
  int64_t blank;
  bool zero_infinity;
} ctc_node;

/* One sequence of the batch. Its states are the labels with a blank before, between and behind. */
typedef struct sequence {
  const td_tensor *log_probs, *targets;
  int64_t batch, n_time, n_labels, first; /* where its labels begin */
  int64_t blank;
} sequence;

static int64_t
n_states(const sequence *s) {
  return 2 * s->n_labels + 1;
}

static int64_t
label(const sequence *s, int64_t state) {
  return state % 2 ? td_tensor_get_integer(s->targets, s->first + state / 2) : s->blank;
}

static int64_t
place_of(const sequence *s, int64_t time, int64_t class) {
  return (time * s->log_probs->sizes[1] + s->batch) * s->log_probs->sizes[2] + class;
}

static double
log_prob(const sequence *s, int64_t time, int64_t state) {
  return td_tensor_get(s->log_probs, place_of(s, time, label(s, state)));
}

static double
log_add(double a, double b) {
  double most = fmax(a, b);
  return most == -INFINITY ? most : most + log1p(exp(-fabs(a - b)));
}

/* A label may follow another without the blank between them, but not itself. */
static bool
may_skip(const sequence *s, int64_t state) {
  return state >= 2 && state < n_states(s) && state % 2 && label(s, state) != label(s, state - 2);
}

/* alpha[time][state]: the log probability of all ways from the beginning to the state. */
static void
go_forth(const sequence *s, double *alpha) {
  int64_t n = n_states(s);
  for (int64_t t = 0; t < s->n_time; t++)
    for (int64_t i = 0; i < n; i++) {
      const double *before = alpha + (t - 1) * n;
      double sum = t == 0 && i < 2 ? 0 : -INFINITY;
      if (t > 0) sum = before[i];
      if (t > 0 && i > 0) sum = log_add(sum, before[i - 1]);
      if (t > 0 && may_skip(s, i)) sum = log_add(sum, before[i - 2]);
      alpha[t * n + i] = sum + log_prob(s, t, i);
    }
}

/* beta[time][state]: that of all ways from the state to the end. */
static void
go_back(const sequence *s, double *beta) {
  int64_t n = n_states(s);
  for (int64_t t = s->n_time - 1; t >= 0; t--)
    for (int64_t i = 0; i < n; i++) {
      const double *after = beta + (t + 1) * n;
      bool last = t == s->n_time - 1;
      double sum = last && i >= n - 2 ? 0 : -INFINITY;
      if (!last) sum = after[i];
      if (!last && i + 1 < n) sum = log_add(sum, after[i + 1]);
      if (!last && may_skip(s, i + 2)) sum = log_add(sum, after[i + 2]);
      beta[t * n + i] = sum + log_prob(s, t, i);
    }
}

static double *
new_states(const sequence *s) {
  return TD_NEW_N(double, (size_t)TD_MAX(s->n_time * n_states(s), 1));
}

static double
loss_of(const sequence *s, double *alpha) {
  int64_t n = n_states(s);
  if (s->n_time == 0) return s->n_labels ? INFINITY : 0;
  go_forth(s, alpha);
  const double *last = alpha + (s->n_time - 1) * n;
  return -(n > 1 ? log_add(last[n - 1], last[n - 2]) : last[0]);
}

/* By what log_softmax took: each probability, less the share of the ways that go through there. */
static void
add_gradient(const sequence *s, double grad, bool zero_infinity, td_tensor *out) {
  double *alpha = new_states(s), *beta = new_states(s), loss = loss_of(s, alpha);
  int64_t n = n_states(s), n_classes = s->log_probs->sizes[2];
  double *ways = TD_NEW_N(double, (size_t)n_classes);
  go_back(s, beta);
  for (int64_t t = 0; t < s->n_time && !(zero_infinity && isinf(loss)); t++) {
    for (int64_t class = 0; class < n_classes; class ++)
      ways[class] = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
      double *here = &ways[label(s, i)];
      *here = log_add(*here, alpha[t * n + i] + beta[t * n + i]);
    }
    for (int64_t class = 0; class < n_classes; class ++) {
      int64_t at = place_of(s, t, class);
      double log_prob_here = td_tensor_get(s->log_probs, at);
      double share = exp(ways[class] + loss - log_prob_here);
      td_tensor_set(out, at, grad * (exp(log_prob_here) - share));
    }
  }
  free(ways);
  free(alpha);
  free(beta);
}

/* The batch's sequence after `s`, which begins as {0} with batch -1. */
static void
next_sequence(sequence *s, const td_tensor *input_lengths, const td_tensor *target_lengths) {
  bool padded = s->targets->n_dims > 1;
  s->first = padded ? (s->batch + 1) * s->targets->sizes[1] : s->first + s->n_labels;
  s->batch++;
  s->n_time = td_tensor_get_integer(input_lengths, s->batch);
  s->n_labels = td_tensor_get_integer(target_lengths, s->batch);
}

static td_status
ctc_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  ctc_node *node = (ctc_node *)op;
  TD_LOCAL(log_probs);
  TD_LOCAL(targets);
  TD_LOCAL(lengths);
  TD_LOCAL(target_lengths);
  TD_TRY(td_op_saved(op, LOG_PROBS, &log_probs, error));
  TD_TRY(td_op_saved(op, TARGETS, &targets, error));
  TD_TRY(td_op_saved(op, LENGTHS, &lengths, error));
  td_node_lock(&op->node);
  td_status status =
      td_saved_variable_unpack(&node->target_lengths, &op->node, &target_lengths, error);
  td_node_unlock(&op->node);
  if (status) return status;
  TD_TRY(td_tensor_new(log_probs->dtype, log_probs->device, 3, log_probs->sizes, out, error));
  if (TD_LAUNCH("ctc_loss_backward", 1, *out, grad, log_probs)) {
    sequence s = {.log_probs = log_probs, .targets = targets, .batch = -1, .blank = node->blank};
    for (int64_t i = 0; i < log_probs->sizes[1]; i++) {
      next_sequence(&s, lengths, target_lengths);
      add_gradient(&s, td_tensor_get(grad, i), node->zero_infinity, *out);
    }
  }
  td_op_end_unknown(*out, TD_INPUTS(grad, log_probs), "_ctc_loss_backward");
  return TD_OK;
}

static void
ctc_release(td_node *node) {
  td_op_release(node);
  td_saved_variable_release(&((ctc_node *)node)->target_lengths);
}
static const td_op_class ctc_class = {
    {.name = "CtcLossBackward0", .apply = td_op_apply, .release_variables = ctc_release},
    .formula = ctc_formula};

static td_status
check(const td_tensor *log_probs, const td_tensor *targets, const td_tensor *input_lengths,
      const td_tensor *target_lengths, int64_t blank, td_error *error) {
  int64_t n_time = log_probs->sizes[0], n_batch = log_probs->sizes[1], total = 0;
  if (blank < 0 || blank >= log_probs->sizes[2])
    return td_error_set(error, TD_INVALID, "blank must be in label range");
  if (td_tensor_n_elements(input_lengths) != n_batch)
    return td_error_set(error, TD_SHAPE, "input_lengths must be of size batch_size");
  if (td_tensor_n_elements(target_lengths) != n_batch)
    return td_error_set(error, TD_SHAPE, "target_lengths must be of size batch_size");
  for (int64_t i = 0; i < n_batch; i++) {
    int64_t length = td_tensor_get_integer(input_lengths, i);
    int64_t labels = td_tensor_get_integer(target_lengths, i);
    if (length > n_time)
      return td_error_set(error, TD_INVALID,
                          "Expected input_lengths to have value at most %lld, but got value %lld "
                          "(while checking arguments for ctc_loss_allocate_outputs)",
                          (long long)n_time, (long long)length);
    if (labels < 0 || (targets->n_dims > 1 && labels > targets->sizes[1]))
      return td_error_set(error, TD_INVALID,
                          "Expected tensor to have size at least %lld at dimension 1, but got size "
                          "%lld for argument #2 'targets' (while checking arguments for "
                          "ctc_loss_allocate_outputs)",
                          (long long)labels, (long long)targets->sizes[1]);
    total += labels;
  }
  if (targets->n_dims < 2 && total != td_tensor_n_elements(targets))
    return td_error_set(error, TD_SHAPE,
                        "Expected tensor to have size %lld at dimension 0, but got size %lld for "
                        "argument #2 'targets' (while checking arguments for "
                        "ctc_loss_allocate_outputs)",
                        (long long)total, (long long)td_tensor_n_elements(targets));
  for (int64_t i = 0; i < td_tensor_n_elements(targets); i++) {
    int64_t class = td_tensor_get_integer(targets, i);
    if (class < 0 || class >= log_probs->sizes[2])
      return td_error_set(error, TD_OUT_OF_RANGE, "Target %lld is out of bounds.",
                          (long long)class);
  }
  return TD_OK;
}

td_status
td_op_ctc_loss(td_tensor *log_probs, td_tensor *targets, td_tensor *input_lengths,
               td_tensor *target_lengths, int64_t blank, bool zero_infinity, td_tensor **out,
               td_error *error) {
  TD_TRY(td_op_want_floating(log_probs, "ctc_loss_cpu", error));
  TD_TRY(check(log_probs, targets, input_lengths, target_lengths, blank, error));
  TD_TRY(td_tensor_new(log_probs->dtype, log_probs->device, 1, &log_probs->sizes[1], out, error));
  if (TD_LAUNCH("ctc_loss", 1, *out, log_probs)) {
    sequence s = {.log_probs = log_probs, .targets = targets, .batch = -1, .blank = blank};
    for (int64_t i = 0; i < log_probs->sizes[1]; i++) {
      next_sequence(&s, input_lengths, target_lengths);
      double *alpha = new_states(&s);
      td_tensor_set(*out, i, loss_of(&s, alpha));
      free(alpha);
    }
  }
  ctc_node *node = td_op_begin(&ctc_class, sizeof *node, TD_INPUTS(log_probs));
  if (!node) return TD_OK;
  node->blank = blank;
  node->zero_infinity = zero_infinity;
  td_op_save(&node->op, LOG_PROBS, log_probs);
  td_op_save(&node->op, TARGETS, targets);
  td_op_save(&node->op, LENGTHS, input_lengths);
  td_saved_variable_init(&node->target_lengths, target_lengths, false);
  td_op_end(&node->op, *out);
  return TD_OK;
}
