/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/random/sampling.h"

#include "engine/torch/graph/in_place.h"
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/random/random.h"
#include "engine/torch/ops/reduction/sort.h"
#include "engine/torch/ops/shape/inplace.h"

#include <math.h>

typedef struct sample_node {
  td_op_node op;
  td_input_metadata inputs[2];
} sample_node;

static td_status
zeros_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const td_input_metadata *input = &((sample_node *)op)->inputs[which];
  return td_tensor_new(input->dtype, input->device, input->n_dims, input->sizes, out, error);
}

static void
give_node(const td_op_class *klass, td_tensor *const *inputs, uint32_t n, td_tensor *result) {
  sample_node *node = td_op_begin(klass, sizeof *node, inputs, n);
  if (!node) return;
  for (uint32_t i = 0; i < n; i++)
    node->inputs[i] = td_op_metadata(inputs[i]);
  td_op_end(&node->op, result);
}

/* Draws an element for each of `parameters`, which is contiguous. */
typedef double (*draw)(td_generator *generator, double parameter);

static void
draw_all(draw one, td_generator *generator, td_tensor *out, const td_tensor *parameters) {
  int64_t n = td_tensor_n_elements(out);
  if (!TD_LAUNCH("sample", 1, out, parameters)) return;
  generator = td_generator_lock(generator);
  for (int64_t i = 0; i < n; i++)
    td_tensor_set(out, i, one(generator, td_tensor_get(parameters, i)));
  td_generator_unlock(generator);
}

static double
draw_bernoulli_float(td_generator *generator, double p) {
  return td_draw_uniform_float_locked(generator) < (float)p;
}

static double
draw_bernoulli_double(td_generator *generator, double p) {
  return td_draw_uniform_double_locked(generator) < p;
}

static td_status
check_probabilities(td_tensor *p, td_error *error) {
  int64_t n = td_tensor_n_elements(p);
  TD_TRY(td_op_want_floating(p, "bernoulli_tensor_cpu_p_", error));
  for (int64_t i = 0; td_tensor_has_data(p) && i < n; i++)
    if (!(td_tensor_get(p, i) >= 0 && td_tensor_get(p, i) <= 1))
      return td_error_set(error, TD_INVALID,
                          "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this "
                          "error message be improved?  If so, please report an enhancement request "
                          "to PyTorch.)");
  return TD_OK;
}

static td_status
bernoulli(td_generator *generator, td_dtype dtype, td_tensor *p, td_tensor **out, td_error *error) {
  TD_TRY(check_probabilities(p, error));
  TD_TRY(td_tensor_new(dtype, p->device, p->n_dims, p->sizes, out, error));
  draw one = p->dtype == TD_FLOAT64 ? draw_bernoulli_double : draw_bernoulli_float;
  draw_all(one, generator, *out, p);
  return TD_OK;
}

static const td_op_class bernoulli_class = TD_OP_CLASS("BernoulliBackward0", zeros_formula);
static const td_op_class bernoulli_into_class = TD_OP_CLASS("BernoulliBackward1", zeros_formula);

td_status
td_op_bernoulli(td_generator *generator, td_tensor *self, td_tensor **out, td_error *error) {
  TD_TRY(bernoulli(generator, self->dtype, self, out, error));
  give_node(&bernoulli_class, TD_INPUTS(self), *out);
  return TD_OK;
}

td_status
td_op_bernoulli_tensor_into(td_generator *generator, td_tensor *self, td_tensor *p,
                            td_error *error) {
  td_write write;
  TD_LOCAL(bare);
  TD_LOCAL(expanded);
  TD_LOCAL(drawn);
  bare = td_tensor_detach(p);
  TD_TRY(td_op_expand(bare, self->n_dims, self->sizes, &expanded, error));
  TD_TRY(bernoulli(generator, self->dtype, expanded, &drawn, error));
  TD_TRY(td_write_begin(&write, &bernoulli_into_class, sizeof(sample_node), "bernoulli_",
                        TD_INPUTS(self, p), error));
  TD_TRY(td_write_check(&write, td_check_overlap(self, error)));
  sample_node *node = (sample_node *)write.node;
  if (node) node->inputs[0] = td_op_metadata(self);
  if (node) node->inputs[1] = td_op_metadata(p);
  td_kernel_copy(self, drawn);
  return td_write_end(&write, error);
}

/* Hoermann's transformed rejection. */
static double
draw_many_events(td_generator *generator, double rate) {
  double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = log(rate);
  double inverse = 1.1239 + 1.1328 / (b - 3.4), limit = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = td_draw_uniform_double_locked(generator) - 0.5;
    double v = td_draw_uniform_double_locked(generator), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= limit) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse) - log(a / (us * us) + b) <= -rate + k * log_rate - lgamma(k + 1))
      return k;
  }
}

static double
draw_poisson(td_generator *generator, double rate) {
  if (rate >= 10) return draw_many_events(generator, rate);
  if (rate == 0) return 0;
  double product = 1, end = exp(-rate);
  for (double n = 0;; n++) {
    product *= td_draw_uniform_double_locked(generator);
    if (!(product > end)) return n;
  }
}

static const td_op_class poisson_class = TD_OP_CLASS("PoissonBackward0", zeros_formula);

td_status
td_op_poisson(td_generator *generator, td_tensor *self, td_tensor **out, td_error *error) {
  int64_t n = td_tensor_n_elements(self);
  TD_TRY(td_op_want_floating(self, "poisson_cpu", error));
  for (int64_t i = 0; td_tensor_has_data(self) && i < n; i++)
    if (!(td_tensor_get(self, i) >= 0))
      return td_error_set(error, TD_INVALID,
                          "invalid Poisson rate, expected rate to be non-negative");
  TD_TRY(td_tensor_new(self->dtype, self->device, self->n_dims, self->sizes, out, error));
  draw_all(draw_poisson, generator, *out, self);
  give_node(&poisson_class, TD_INPUTS(self), *out);
  return TD_OK;
}

static td_status
check_std(td_tensor *std, double number, td_error *error) {
  int64_t n = std ? td_tensor_n_elements(std) : 0;
  if (!std && !(number >= 0))
    return td_error_set(error, TD_INVALID, "normal expects std >= 0.0, but found std %g", number);
  for (int64_t i = 0; i < n && td_tensor_has_data(std); i++)
    if (!(td_tensor_get(std, i) >= 0))
      return td_error_set(error, TD_INVALID, "normal expects all elements of std >= 0.0");
  return TD_OK;
}

static const td_op_class normal_classes[] = {TD_OP_CLASS("NormalBackward1", zeros_formula),
                                             TD_OP_CLASS("NormalBackward2", zeros_formula),
                                             TD_OP_CLASS("NormalBackward3", zeros_formula)};

/* Standard normal numbers, scaled and moved. */
static td_status
scaled(td_tensor *drawn, td_tensor *mean, double mean_number, td_tensor *std, td_tensor **out,
       td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *by = std ? td_calc_keep(c, td_tensor_detach(std)) : NULL;
  td_tensor *to = mean ? td_calc_keep(c, td_tensor_detach(mean)) : NUMBER(drawn, mean_number);
  td_tensor *wide = by ? MUL(drawn, by) : drawn;
  return td_calc_end(c, ADD(wide, to), out);
}

td_status
td_op_normal_tensor(td_generator *generator, td_tensor *mean, double mean_number, td_tensor *std,
                    double std_number, td_tensor **out, td_error *error) {
  td_sizes sizes = td_op_sizes(mean ? mean : std);
  td_tensor *like = mean ? mean : std, *inputs[] = {like, std};
  TD_LOCAL(drawn);
  TD_TRY(check_std(std, std_number, error));
  if (mean && std) {
    td_sizes others = td_op_sizes(std), both;
    TD_TRY(td_op_broadcast(&sizes, &others, &both, error));
    sizes = both;
  }
  TD_TRY(td_tensor_new(like->dtype, like->device, sizes.n_dims, sizes.at, &drawn, error));
  TD_TRY(td_op_normal_into(generator, drawn, 0, std ? 1 : std_number, error));
  TD_TRY(scaled(drawn, mean, mean_number, std, out, error));
  give_node(&normal_classes[!std ? 0 : !mean ? 1 : 2], inputs, mean && std ? 2 : 1, *out);
  return TD_OK;
}

static td_status
check_weights(td_tensor *self, int64_t n, bool replacement, td_error *error) {
  if (!td_dtype_is_floating(self->dtype))
    return td_error_set(error, TD_INVALID,
                        "multinomial only supports floating-point dtypes for input, got: %s",
                        td_op_scalar_type(self->dtype));
  if (self->n_dims != 1 && self->n_dims != 2)
    return td_error_set(error, TD_INVALID, "prob_dist must be 1 or 2 dim");
  if (n <= 0) return td_error_set(error, TD_INVALID, "cannot sample n_sample <= 0 samples");
  if (!replacement && n > self->sizes[self->n_dims - 1])
    return td_error_set(error, TD_INVALID,
                        "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  int64_t columns = self->sizes[self->n_dims - 1], count = td_tensor_n_elements(self);
  double sum = 0;
  for (int64_t i = 0; td_tensor_has_data(self) && i < count; i++) {
    double weight = td_tensor_get(self, i);
    if (!(weight >= 0) || isinf(weight))
      return td_error_set(error, TD_INVALID,
                          "probability tensor contains either `inf`, `nan` or element < 0");
    sum = i % columns ? sum + weight : weight;
    if ((i + 1) % columns == 0 && sum == 0)
      return td_error_set(error, TD_INVALID,
                          "invalid multinomial distribution (sum of probabilities <= 0)");
  }
  return TD_OK;
}

/* The largest quotients of weights and exponential numbers are a sample without replacement. */
static td_status
sample_distinct(td_generator *generator, td_tensor *self, int64_t n, td_tensor **out,
                td_error *error) {
  TD_LOCAL(drawn);
  TD_LOCAL(quotients);
  TD_LOCAL(values);
  TD_TRY(td_tensor_new(self->dtype, self->device, self->n_dims, self->sizes, &drawn, error));
  TD_TRY(td_op_exponential_into(generator, drawn, 1, 0, error));
  TD_TRY(td_op_div(self, drawn, &quotients, error));
  return td_op_topk(quotients, n, -1, true, true, &values, out, error);
}

/* The running sums of a row, at most 1. */
#define RUNNING_SUMS(T)                                                                            \
  T sum = 0;                                                                                       \
  for (int64_t i = 0; i < n; i++) {                                                                \
    sum += (T)td_tensor_get(self, row * n + i);                                                    \
    sums[i] = sum;                                                                                 \
  }                                                                                                \
  for (int64_t i = 0; (sum > 1.00001 || sum < 0.99999) && i < n; i++)                              \
    sums[i] = (T)sums[i] / sum;

static void
sum_row(const td_tensor *self, int64_t row, int64_t n, double *sums) {
  TD_DISPATCH_FLOATING(self->dtype, RUNNING_SUMS(T))
  sums[n - 1] = 1;
}

static int64_t
find_place(const double *sums, int64_t n, double wanted) {
  int64_t left = 0, right = n;
  while (right > left) {
    int64_t middle = left + (right - left) / 2;
    if (sums[middle] < wanted)
      left = middle + 1;
    else
      right = middle;
  }
  return left;
}

static td_status
sample_again(td_generator *generator, td_tensor *self, int64_t n, td_tensor **out,
             td_error *error) {
  td_sizes sizes = td_op_sizes(self);
  int64_t columns = sizes.at[sizes.n_dims - 1], rows = sizes.n_dims == 2 ? sizes.at[0] : 1;
  sizes.at[sizes.n_dims - 1] = n;
  TD_TRY(td_tensor_new(TD_INT64, self->device, sizes.n_dims, sizes.at, out, error));
  if (!TD_LAUNCH("multinomial", 1, *out, self)) return TD_OK;
  double *sums = TD_NEW_N(double, columns);
  int64_t *found = td_tensor_data(*out);
  generator = td_generator_lock(generator);
  for (int64_t row = 0; row < rows; row++) {
    sum_row(self, row, columns, sums);
    for (int64_t i = 0; i < n; i++)
      found[row * n + i] = find_place(sums, columns, td_draw_uniform_double_locked(generator));
  }
  td_generator_unlock(generator);
  free(sums);
  return TD_OK;
}

td_status
td_op_multinomial(td_generator *generator, td_tensor *self, int64_t n, bool replacement,
                  td_tensor **out, td_error *error) {
  TD_LOCAL(bare);
  TD_TRY(check_weights(self, n, replacement, error));
  bare = td_tensor_detach(self);
  if (!replacement || n == 1) return sample_distinct(generator, bare, n, out, error);
  return sample_again(generator, bare, n, out, error);
}
