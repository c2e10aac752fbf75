/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * With s = sigmoid:  i, f, o = s(...), g = tanh(...), c' = f c + i g, h' = o tanh(c').  The steps
 * are computed once more, and then the gradients from the last step to the first, in the order of
 * PyTorch 2. */
#include "engine/torch/ops/nn/lstm_formula.h"

#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/linalg/linalg.h"

/* The activated gates of a step, and the state behind it (owned references). */
enum { GATE_IN, GATE_FORGET, GATE_CELL, GATE_OUT, STATE_H, STATE_C, N_OF_STEP };
typedef struct lstm_step {
  td_tensor *of[N_OF_STEP];
} lstm_step;

typedef struct formula {
  td_tensor *const *operands;
  td_tensor *b_ih, *b_hh; /* (borrowed) zeros for a missing bias */
  bool reverse;
  int64_t n_times;
  lstm_step *steps;     /* [n_times] */
  td_tensor **d_inputs; /* (owned references) [n_times] */
} formula;

/* Runs an operation that calc.h has not, and keeps its result. */
#define MADE(call)                                                                                 \
  ({                                                                                               \
    td_tensor *made_ = NULL, **out = &made_;                                                       \
    td_error *error = c->error;                                                                    \
    if (!c->status) c->status = (call);                                                            \
    td_calc_keep(c, made_);                                                                        \
  })
#define TANH(a) MADE(td_op_tanh(a, out, error))
#define LINEAR(x, w, b) MADE(td_op_linear(x, w, b, out, error))
#define MATMUL(a, b) MADE(td_op_matmul(a, b, out, error))
#define FLIPPED(a) MADE(td_op_transpose(a, 0, 1, out, error))
#define PART(a, index) MADE(td_op_select(a, 0, index, out, error))

static td_tensor *
one_minus(td_calc *c, td_tensor *a) {
  td_tensor *one = NUMBER(a, 1);
  return SUB(one, a);
}
#define ONE_MINUS(a) one_minus(c, a)

static int64_t
time_of(const formula *f, int64_t step) {
  return f->reverse ? f->n_times - 1 - step : step;
}

/* The state before a step: h or c. */
static td_tensor *
before(const formula *f, int64_t step, int which) {
  if (step) return f->steps[step - 1].of[which];
  return f->operands[which == STATE_H ? TD_LSTM_H : TD_LSTM_C];
}

static void
cut_gates(td_calc *c, td_tensor *gates, td_tensor *out[4]) {
  td_tensor **parts = NULL;
  uint32_t n = 0;
  if (!c->status) c->status = td_op_unsafe_chunk(gates, 4, 1, &parts, &n, c->error);
  for (uint32_t i = 0; i < n; i++)
    out[i] = td_calc_keep(c, parts[i]);
  free(parts);
}

static td_status
compute_step(formula *f, int64_t step, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *const *operands = f->operands, *parts[4] = {NULL}, *nothing = NULL;
  td_tensor *x = PART(operands[TD_LSTM_INPUT], time_of(f, step));
  td_tensor *of_input = LINEAR(x, operands[TD_LSTM_W_IH], f->b_ih);
  td_tensor *of_state = LINEAR(before(f, step, STATE_H), operands[TD_LSTM_W_HH], f->b_hh);
  cut_gates(c, ADD(of_input, of_state), parts);
  td_tensor *in = td_calc_sigmoid(c, parts[0]), *forget = td_calc_sigmoid(c, parts[1]);
  td_tensor *cell = TANH(parts[2]), *out = td_calc_sigmoid(c, parts[3]);
  td_tensor *kept = MUL(forget, before(f, step, STATE_C));
  td_tensor *c_now = ADD(kept, MUL(in, cell));
  td_tensor *h_now = MUL(out, TANH(c_now));
  td_tensor *made[N_OF_STEP] = {in, forget, cell, out, h_now, c_now};
  for (int i = 0; i < N_OF_STEP; i++)
    f->steps[step].of[i] = td_tensor_ref(made[i]);
  return td_calc_end(c, NULL, &nothing);
}

/* sum becomes sum + more, or more at first. */
static void
add_up(td_calc *c, td_tensor **sum, td_tensor *more) {
  td_tensor *now = *sum && !c->status ? ADD(*sum, more) : more;
  if (c->status) return;
  td_tensor_ref(now);
  td_tensor_unref(*sum);
  *sum = now;
}

static void
replace(td_calc *c, td_tensor **old, td_tensor *now) {
  if (c->status) return;
  td_tensor_unref(*old);
  *old = td_tensor_ref(now);
}

/* From the gradients by h and c behind a step, in out, to those before it. */
static td_status
gradients_of_step(formula *f, int64_t step, td_tensor *d_output, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *const *of = f->steps[step].of, *nothing = NULL;
  td_tensor *in = of[GATE_IN], *forget = of[GATE_FORGET], *cell = of[GATE_CELL];
  td_tensor *gate = of[GATE_OUT], *c_now = of[STATE_C];
  td_tensor *d_h = ADD(PART(d_output, time_of(f, step)), out[TD_LSTM_H]);
  td_tensor *slope = ONE_MINUS(MUL(TANH(c_now), TANH(c_now)));
  td_tensor *d_c = ADD(out[TD_LSTM_C], MUL(MUL(d_h, gate), slope));
  td_tensor *to_cell = MUL(d_c, in), *to_in = MUL(d_c, cell), *d_c_before = MUL(d_c, forget);
  td_tensor *to_forget = MUL(d_c, before(f, step, STATE_C)), *to_gate = MUL(d_h, TANH(c_now));
  td_tensor *rest = ONE_MINUS(gate), *d_gate = MUL(MUL(to_gate, gate), rest);
  td_tensor *d_cell = MUL(to_cell, ONE_MINUS(MUL(cell, cell)));
  td_tensor *d_forget = (rest = ONE_MINUS(forget), MUL(MUL(to_forget, forget), rest));
  td_tensor *d_in = (rest = ONE_MINUS(in), MUL(MUL(to_in, in), rest));
  td_tensor *gates[] = {d_in, d_forget, d_cell, d_gate};
  td_tensor *d_gates = MADE(td_op_cat(4, gates, 1, out, error));
  td_tensor *d_bias = MADE(td_op_sum_dims(d_gates, 1, (int64_t[]){0}, false, out, error));
  td_tensor *d_x = MATMUL(d_gates, f->operands[TD_LSTM_W_IH]);
  f->d_inputs[time_of(f, step)] = td_tensor_ref(td_calc_unsqueeze(c, d_x, 0));
  td_tensor *d_h_before = MATMUL(d_gates, f->operands[TD_LSTM_W_HH]);
  td_tensor *x = f->operands[TD_LSTM_INPUT];
  td_tensor *d_w_ih = MATMUL(FLIPPED(d_gates), PART(x, time_of(f, step)));
  td_tensor *d_w_hh = MATMUL(FLIPPED(d_gates), before(f, step, STATE_H));
  add_up(c, &out[TD_LSTM_B_IH], d_bias);
  add_up(c, &out[TD_LSTM_W_IH], d_w_ih);
  add_up(c, &out[TD_LSTM_W_HH], d_w_hh);
  replace(c, &out[TD_LSTM_H], d_h_before);
  replace(c, &out[TD_LSTM_C], d_c_before);
  return td_calc_end(c, NULL, &nothing);
}

static td_status
gradient_or_zeros(td_tensor *grad, const td_tensor *like, td_tensor **out, td_error *error) {
  return grad ? td_op_contiguous(grad, out, error) : td_tensor_new_like(like, out, error);
}

static td_status
run(formula *f, td_tensor *const *grads, td_tensor **out, td_error *error) {
  TD_LOCAL(d_output);
  td_tensor *const *operands = f->operands;
  int64_t sizes[] = {f->n_times, operands[TD_LSTM_H]->sizes[0], operands[TD_LSTM_H]->sizes[1]};
  if (grads[TD_LSTM_OUTPUT])
    TD_TRY(td_op_contiguous(grads[TD_LSTM_OUTPUT], &d_output, error));
  else
    TD_TRY(td_tensor_new(TD_FLOAT32, TD_CPU, 3, sizes, &d_output, error));
  TD_TRY(gradient_or_zeros(grads[TD_LSTM_LAST_H], operands[TD_LSTM_H], &out[TD_LSTM_H], error));
  TD_TRY(gradient_or_zeros(grads[TD_LSTM_LAST_C], operands[TD_LSTM_C], &out[TD_LSTM_C], error));
  for (int64_t step = 0; step < f->n_times; step++)
    TD_TRY(compute_step(f, step, error));
  for (int64_t step = f->n_times - 1; step >= 0; step--)
    TD_TRY(gradients_of_step(f, step, d_output, out, error));
  out[TD_LSTM_B_HH] = td_tensor_ref(out[TD_LSTM_B_IH]);
  return td_op_cat((uint32_t)f->n_times, f->d_inputs, 0, &out[TD_LSTM_INPUT], error);
}

static void
formula_fini(formula *f) {
  for (int64_t step = 0; f->steps && step < f->n_times; step++)
    for (int i = 0; i < N_OF_STEP; i++)
      td_tensor_unref(f->steps[step].of[i]);
  for (int64_t step = 0; f->d_inputs && step < f->n_times; step++)
    td_tensor_unref(f->d_inputs[step]);
  free(f->steps);
  free(f->d_inputs);
}

td_status
td_lstm_formula(td_tensor *const operands[TD_LSTM_N_OPERANDS], bool reverse,
                td_tensor *const grads[TD_LSTM_N_RESULTS], td_tensor *out[TD_LSTM_N_OPERANDS],
                td_error *error) {
  TD_LOCAL(zeros);
  int64_t n_gates = operands[TD_LSTM_W_HH]->sizes[0];
  formula f = {.operands = operands,
               .b_ih = operands[TD_LSTM_B_IH],
               .b_hh = operands[TD_LSTM_B_HH],
               .reverse = reverse,
               .n_times = operands[TD_LSTM_INPUT]->sizes[0]};
  if (!f.b_ih) {
    TD_TRY(td_tensor_new(TD_FLOAT32, TD_CPU, 1, &n_gates, &zeros, error));
    f.b_ih = f.b_hh = zeros;
  }
  f.steps = td_try_alloc((size_t)f.n_times, sizeof *f.steps);
  f.d_inputs = td_try_alloc((size_t)f.n_times, sizeof(td_tensor *));
  td_status status = f.steps && f.d_inputs ? run(&f, grads, out, error) : TD_OUT_OF_MEMORY;
  formula_fini(&f);
  if (status) td_op_drop(out, TD_LSTM_N_OPERANDS);
  return status;
}
