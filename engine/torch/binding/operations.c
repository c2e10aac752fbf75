/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations whose arguments bind.h reads. Each row of operations.def becomes a Python function.
 * Below are the calls that choose between several operations. */
#include "engine/torch/binding/operations.h"

#include "engine/torch/binding/bind.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/intercept.h"
#include "engine/torch/binding/results.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/types.h"
#include "engine/torch/ops/nn/attention.h"
#include "engine/torch/ops/nn/dropout.h"

#include "engine/torch/graph/in_place.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/ops/indexing/indexing.h"
#include "engine/torch/ops/linalg/decompose.h"
#include "engine/torch/ops/linalg/linalg.h"
#include "engine/torch/ops/nn/ctc.h"
#include "engine/torch/ops/nn/grid_sample.h"
#include "engine/torch/ops/nn/loss.h"
#include "engine/torch/ops/pointwise/compare.h"
#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/pointwise/logic.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/pointwise/special.h"
#include "engine/torch/ops/random/random.h"
#include "engine/torch/ops/random/sampling.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/reduction/sort.h"
#include "engine/torch/ops/shape/padding.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/ops/shape/view.h"
#include "engine/torch/tensor/factories.h"

#include <math.h>
#include <string.h>

#define T(i) v[i].tensor
#define N(i, otherwise) (v[i].given ? v[i].number.value : (otherwise))
#define I(i, otherwise) (v[i].given ? v[i].integer : (otherwise))
#define B(i, otherwise) ((bool)I(i, otherwise))
#define S(i) v[i].sizes.n, v[i].sizes.values
#define L(i) v[i].n_list, v[i].list
#define G(i) v[i].given
#define ONE(op, ...) op(__VA_ARGS__, &results->one, error)
#define TWO(op, ...) op(__VA_ARGS__, &results->one, &results->two, error)
#define MANY(op, ...) op(__VA_ARGS__, &results->many, &results->n, error)
#define PAIR(op, ...) (results->is_plain = true, TWO(op, __VA_ARGS__))
#define R(i) v[i].generator
#define SELF(op, ...) (results->one = td_tensor_ref(T(0)), op(__VA_ARGS__, error))
#define TRUTH(condition) (results->truth = (condition) ? Py_True : Py_False, TD_OK)
#define CHOICE(name) static td_status name(tdpy_value *v, td_error *error, tdpy_results *results)

/* Returns TD_REDUCTION_NONE - 1 for an unknown word; the operation's caller refuses it. */
static td_reduction
reduction_of(const tdpy_value *value) {
  static const char *const words[] = {
      [TD_REDUCTION_NONE] = "none", [TD_REDUCTION_MEAN] = "mean", [TD_REDUCTION_SUM] = "sum"};
  for (size_t i = 0; value->given && i < sizeof words / sizeof *words; i++)
    if (strcmp(value->word, words[i]) == 0) return (td_reduction)i;
  return TD_REDUCTION_MEAN;
}
#define REDUCTION(i) reduction_of(&v[i])

static bool
is_reduction(const char *word) {
  return strcmp(word, "none") == 0 || strcmp(word, "mean") == 0 || strcmp(word, "sum") == 0;
}

/* An argument as a tensor beside the first argument: (owned reference) or NULL. */
static td_tensor *
operand(const tdpy_value *value, const td_tensor *first) {
  return value->given ? tdpy_operand(value->object, first) : NULL;
}

static bool
is_tensor(const tdpy_value *value) {
  return value->given && tdpy_tensor_is(value->object);
}

static td_status
number_of(const tdpy_value *value, double otherwise, double *number, td_error *error) {
  tdpy_number read;
  *number = otherwise;
  if (!value->given) return TD_OK;
  if (tdpy_tensor_is(value->object)) {
    *number = td_tensor_item(tdpy_tensor_of(value->object));
    return TD_OK;
  }
  if (!tdpy_number_read(value->object, &read))
    return td_error_set(error, TD_INVALID, "expected a Tensor or a number, not %s",
                        Py_TYPE(value->object)->tp_name);
  if (read.is_complex)
    return td_error_set(error, TD_UNSUPPORTED, "a complex number is not supported here");
  *number = read.value;
  return TD_OK;
}

/* A bound with a fraction makes floats of integers. */
static td_dtype
clamped_dtype(td_dtype dtype, const tdpy_value *v) {
  tdpy_number bound;
  for (int i = 1; i <= 2; i++)
    if (v[i].given && tdpy_number_read(v[i].object, &bound) && !td_dtype_is_differentiable(dtype))
      dtype = !bound.is_integer                    ? TD_FLOAT32
              : dtype == TD_BOOL && !bound.is_bool ? TD_INT64
                                                   : dtype;
  return dtype;
}

CHOICE(clamp) {
  double low, high;
  if (is_tensor(&v[1]) || is_tensor(&v[2])) {
    td_tensor *min = operand(&v[1], T(0)), *max = operand(&v[2], T(0));
    td_status status = ONE(td_op_clamp_tensor, T(0), min, max);
    td_tensor_unref(min);
    td_tensor_unref(max);
    return status;
  }
  if (!v[1].given && !v[2].given)
    return td_error_set(error, TD_INVALID,
                        "torch.clamp: At least one of 'min' or 'max' must not be None");
  td_status status = number_of(&v[1], -INFINITY, &low, error);
  if (!status) status = number_of(&v[2], INFINITY, &high, error);
  if (status) return status;
  td_tensor *self = NULL;
  status = td_op_to_dtype(T(0), clamped_dtype(T(0)->dtype, v), &self, error);
  if (status) return status;
  status = ONE(td_op_clamp_with, self, ((double[3]){low, high}));
  td_tensor_unref(self);
  return status;
}

/* Every memory format but the one that keeps how the tensor lies is row-major here. */
CHOICE(copy) {
  td_memory_format format = TD_FORMAT_PRESERVE;
  if (G(1) && !tdpy_format_converter(v[1].object, &format)) return tdpy_fetch(error);
  return ONE(td_op_clone_in, T(0), format);
}

CHOICE(contiguous) {
  td_memory_format format = TD_FORMAT_CONTIGUOUS;
  if (G(1) && !tdpy_format_converter(v[1].object, &format)) return tdpy_fetch(error);
  if (format == TD_FORMAT_PRESERVE && !td_tensor_is_contiguous(T(0)))
    return td_error_set(error, TD_INVALID,
                        "preserve memory format is unsupported by the contiguous operator");
  return ONE(td_op_contiguous_in, T(0), format);
}

static td_status
masked_fill_complex(tdpy_value *v, td_error *error, tdpy_results *results) {
  td_tensor *filling = tdpy_operand(v[2].object, T(0));
  td_status status = ONE(td_op_masked_fill_tensor, T(0), T(1), filling);
  td_tensor_unref(filling);
  return status;
}

CHOICE(masked_fill) {
  double number;
  if (is_tensor(&v[2]))
    return ONE(td_op_masked_fill_tensor, T(0), T(1), tdpy_tensor_of(v[2].object));
  if (PyComplex_Check(v[2].object)) return masked_fill_complex(v, error, results);
  td_status status = number_of(&v[2], 0, &number, error);
  return status ? status : ONE(td_op_masked_fill, T(0), T(1), number);
}

/* where(condition, self, other): a number stands beside the other operand. */
static td_status
where_of(td_tensor *condition, PyObject *yes, PyObject *no, td_tensor **out, td_error *error) {
  const td_tensor *like = tdpy_tensor_is(yes)  ? tdpy_tensor_of(yes)
                          : tdpy_tensor_is(no) ? tdpy_tensor_of(no)
                                               : condition;
  td_tensor *a = tdpy_operand(yes, like), *b = tdpy_operand(no, like);
  td_status status = a && b ? td_op_where(condition, a, b, out, error)
                            : td_error_set(error, TD_INVALID, "where() takes tensors and numbers");
  td_tensor_unref(a);
  td_tensor_unref(b);
  return status;
}

/* One list of indices for each dimension. A number counts as one element. */
static td_status
places_of(td_tensor *self, tdpy_results *results, td_error *error) {
  td_tensor *places = NULL, *wide = NULL;
  td_status status = self->n_dims ? TD_OK : td_op_unsqueeze(self, 0, &wide, error);
  if (!status) status = td_op_nonzero(wide ? wide : self, &places, error);
  if (!status) status = MANY(td_op_unbind, places, 1);
  td_tensor_unref(places);
  td_tensor_unref(wide);
  return status;
}

CHOICE(where) {
  if (v[1].given && v[2].given)
    return where_of(T(0), v[1].object, v[2].object, &results->one, error);
  return places_of(T(0), results, error);
}

static bool
is_legacy_empty(const td_tensor *tensor) {
  return tensor->n_dims == 1 && tensor->sizes[0] == 0;
}

/* tensor([]) may stand beside tensors of any size: it counts as nothing there. */
CHOICE(cat) {
  uint32_t n = 0;
  bool other = false;
  if (v[0].n_list == 0)
    return td_error_set(error, td_policy(name_operations) ? TD_VALUE : TD_INVALID,
                        "torch.cat(): expected a non-empty list of Tensors");
  for (uint32_t i = 0; i < v[0].n_list; i++)
    other = other || v[0].list[i]->n_dims != 1;
  for (uint32_t i = 0; i < v[0].n_list; i++)
    if (!other || !is_legacy_empty(v[0].list[i])) v[0].list[n++] = v[0].list[i];
  v[0].n_list = n;
  return ONE(td_op_cat, L(0), I(1, 0));
}

/* Of integers. */
static td_status
trunc_divide(td_tensor *a, td_tensor *b, td_tensor **out, td_error *error) {
  td_tensor *rest = NULL, *multiple = NULL;
  td_status status = td_op_fmod(a, b, &rest, error);
  if (!status) status = td_op_sub(a, rest, 1, &multiple, error);
  if (!status) status = td_op_floor_divide(multiple, b, out, error);
  td_tensor_unref(rest);
  td_tensor_unref(multiple);
  return status;
}

CHOICE(divide) {
  td_tensor *quotient = NULL;
  bool is_floor = G(2) && v[2].word[0] == 'f';
  if (!G(2)) return ONE(td_op_div, T(0), T(1));
  if (strcmp(v[2].word, "floor") != 0 && strcmp(v[2].word, "trunc") != 0)
    return td_error_set(error, TD_INVALID,
                        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
                        "found '%s'",
                        v[2].word);
  if (!td_dtype_is_differentiable(td_op_promote(T(0), T(1))))
    return is_floor ? ONE(td_op_floor_divide, T(0), T(1)) : ONE(trunc_divide, T(0), T(1));
  td_status status = td_op_div(T(0), T(1), &quotient, error);
  if (!status) status = is_floor ? ONE(td_op_floor, quotient) : ONE(td_op_trunc, quotient);
  td_tensor_unref(quotient);
  return status;
}

/* The same as the operator: of two tensors, or a tensor and a number. */
CHOICE(power) {
  PyObject *result = PyNumber_Power(v[0].object, v[1].object, Py_None);
  if (!result) return tdpy_fetch(error);
  results->one = td_tensor_ref(tdpy_tensor_of(result));
  Py_DECREF(result);
  return TD_OK;
}

CHOICE(grid_sampler) {
  td_grid_sampling sampling = {(td_sampling_mode)v[2].integer, (td_sampling_padding)v[3].integer,
                               B(4, 0)};
  return ONE(td_op_grid_sampler, &sampling, T(0), T(1));
}

CHOICE(affine_grid) {
  if (v[1].sizes.n != 4)
    return td_error_set(error, TD_UNSUPPORTED,
                        "affine_grid_generator needs sizes for 4D (spatial) input.");
  return ONE(td_op_affine_grid, T(0), v[1].sizes.values, B(2, 0));
}

CHOICE(lerp) {
  double weight;
  if (is_tensor(&v[2])) return ONE(td_op_lerp_tensor, T(0), T(1), tdpy_tensor_of(v[2].object));
  td_status status = number_of(&v[2], 0, &weight, error);
  return status ? status : ONE(td_op_lerp, T(0), T(1), weight);
}

/* self as the dtype that the caller wants, if any: (owned reference). */
static td_status
as_dtype(const tdpy_value *self, const tdpy_value *dtype, td_tensor **out, td_error *error) {
  return td_op_to_dtype(self->tensor, dtype->given ? dtype->dtype : self->tensor->dtype, out,
                        error);
}

typedef td_status (*reduce_all)(td_tensor *self, td_tensor **out, td_error *error);
typedef td_status (*reduce_dims)(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                                 td_tensor **out, td_error *error);

static td_status
reduce(reduce_all all, reduce_dims some, tdpy_value *v, td_error *error, tdpy_results *results) {
  td_tensor *self = NULL;
  td_status status = as_dtype(&v[0], &v[3], &self, error);
  if (status) return status;
  status = G(1) ? some(self, S(1), B(2, 0), &results->one, error) : all(self, &results->one, error);
  td_tensor_unref(self);
  return status;
}

/* Of no dims all are meant. */
static td_status
reduce_dims_of(reduce_dims some, const char *parameters, tdpy_value *v, td_error *error,
               tdpy_results *results) {
  if (!strstr(parameters, "dtype")) return some(T(0), S(1), B(2, 0), &results->one, error);
  td_tensor *self = NULL;
  td_status status = as_dtype(&v[0], &v[3], &self, error);
  if (!status) status = some(self, S(1), B(2, 0), &results->one, error);
  td_tensor_unref(self);
  return status;
}

CHOICE(prod) {
  td_tensor *self = NULL;
  td_status status = as_dtype(&v[0], &v[3], &self, error);
  if (!status) status = G(1) ? ONE(td_op_prod_dim, self, I(1, 0), B(2, 0)) : ONE(td_op_prod, self);
  td_tensor_unref(self);
  return status;
}

CHOICE(sum) {
  return reduce(td_op_sum, td_op_sum_dims, v, error, results);
}

CHOICE(mean) {
  return reduce(td_op_mean, td_op_mean_dims, v, error, results);
}

typedef td_status (*along)(td_tensor *self, int64_t dim, td_tensor **out, td_error *error);

static td_status
along_dim(along op, tdpy_value *v, td_error *error, tdpy_results *results) {
  td_tensor *self = NULL;
  td_status status = as_dtype(&v[0], &v[2], &self, error);
  if (!status) status = op(self, I(1, 0), &results->one, error);
  td_tensor_unref(self);
  return status;
}

/* max(), max(other) and max(dim). */
#define EXTREME(name, between)                                                                     \
  CHOICE(name) {                                                                                   \
    int64_t dim = 0;                                                                               \
    if (!G(1)) return ONE(td_op_##name, T(0));                                                     \
    if (is_tensor(&v[1])) return ONE(between, T(0), tdpy_tensor_of(v[1].object));                  \
    if (!tdpy_int_converter(v[1].object, &dim)) return tdpy_fetch(error);                          \
    return TWO(td_op_##name##_dim, T(0), dim, B(2, 0));                                            \
  }
EXTREME(max, td_op_maximum)
EXTREME(min, td_op_minimum)

CHOICE(norm) {
  double p = 2;
  if (G(1) && PyUnicode_Check(v[1].object)) {
    if (strcmp(PyUnicode_AsUTF8(v[1].object), "fro") != 0)
      return td_error_set(error, TD_UNSUPPORTED, "norm: only p='fro' of the words");
  } else {
    td_status status = number_of(&v[1], 2, &p, error);
    if (status) return status;
  }
  return ONE(td_op_norm, T(0), p, S(2), B(3, 0));
}

typedef td_status (*spread_op)(td_tensor *self, int n_dims, const int64_t *dims, double correction,
                               bool keepdim, td_tensor **out, td_error *error);

/* std(unbiased), std(dim, unbiased, keepdim), std(dim, correction=). */
static td_status
spread(spread_op op, tdpy_value *v, td_error *error, tdpy_results *results) {
  tdpy_sizes dims = {0};
  bool first_is_unbiased = G(1) && PyBool_Check(v[1].object);
  if (G(1) && !first_is_unbiased && !tdpy_sizes_converter(v[1].object, &dims))
    return tdpy_fetch(error);
  bool unbiased = first_is_unbiased ? v[1].object == Py_True : B(2, 1);
  return op(T(0), dims.n, dims.values, N(4, unbiased ? 1 : 0), B(3, 0), &results->one, error);
}

CHOICE(select_) {
  const td_tensor *self = T(0);
  int64_t dim = I(1, 0) < 0 ? I(1, 0) + self->n_dims : I(1, 0), index = I(2, 0);
  bool has_dim = dim >= 0 && dim < self->n_dims;
  if (!has_dim || (index >= -self->sizes[dim] && index < self->sizes[dim]))
    return ONE(td_op_select, T(0), I(1, 0), index);
  char *sizes = td_tensor_shape_text(self);
  td_error_set(error, TD_OUT_OF_RANGE,
               "select(): index %lld out of range for tensor of size %s at dimension %lld",
               (long long)index, sizes, (long long)dim);
  free(sizes);
  return TD_OUT_OF_RANGE;
}

CHOICE(movedim) {
  if (v[1].sizes.n != v[2].sizes.n) {
    char *texts[] = {td_sizes_text(S(1)), td_sizes_text(S(2))};
    td_status status =
        td_error_set(error, TD_INVALID,
                     "movedim: Invalid source or destination dims: source (%s dims) should "
                     "contain the same number of dims as destination (%s dims)",
                     texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    return status;
  }
  return ONE(td_op_movedim, T(0), v[1].sizes.n, v[1].sizes.values, v[2].sizes.values);
}

/* repeat: there must be at least as many sizes as self has dimensions. */
CHOICE(tile) {
  int64_t repeats[TD_MAX_DIMS];
  int n = v[1].sizes.n > T(0)->n_dims ? v[1].sizes.n : T(0)->n_dims;
  for (int i = 0; i < n; i++) {
    int own = i - (n - v[1].sizes.n);
    repeats[i] = own < 0 ? 1 : v[1].sizes.values[own];
  }
  return ONE(td_op_repeat, T(0), n, repeats);
}

CHOICE(as_strided) {
  if (v[1].sizes.n != v[2].sizes.n)
    return td_error_set(error, TD_INVALID, "mismatch in length of strides and shape");
  return ONE(td_op_as_strided, T(0), S(1), v[2].sizes.values, I(3, T(0)->offset));
}

CHOICE(split) {
  if (PyIndex_Check(v[1].object)) return MANY(td_op_split, T(0), v[1].sizes.values[0], I(2, 0));
  return MANY(td_op_split_sizes, T(0), S(1), I(2, 0));
}

CHOICE(scatter) {
  double number;
  const tdpy_value *source = G(3) ? &v[3] : &v[4]; /* by the name src or value */
  if (!G(3) && !G(4)) return td_error_set(error, TD_INVALID, "scatter() needs src or value");
  if (is_tensor(source))
    return ONE(td_op_scatter, T(0), I(1, 0), T(2), tdpy_tensor_of(source->object));
  td_status status = number_of(source, 0, &number, error);
  return status ? status : ONE(td_op_scatter_value, T(0), I(1, 0), T(2), number);
}

/* bernoulli(), bernoulli(p) */
CHOICE(bernoulli) {
  if (!G(1)) return ONE(td_op_bernoulli, R(2), T(0));
  td_status status = td_tensor_new_like(T(0), &results->one, error);
  return status ? status : td_op_bernoulli_into(R(2), results->one, N(1, 0.5), 0, error);
}

/* bernoulli_(p), of a number or a tensor */
/* pad(mode, pads) of the modes that are no number */
CHOICE(pad) {
  bool reflects = strcmp(v[2].word, "reflect") == 0;
  return ONE(td_op_pad, T(0), reflects ? TD_PADDING_REFLECT : TD_PADDING_REPLICATE, S(1));
}

CHOICE(bernoulli_) {
  double p = 0.5;
  if (is_tensor(&v[1]))
    return SELF(td_op_bernoulli_tensor_into, R(2), T(0), tdpy_tensor_of(v[1].object));
  td_status status = number_of(&v[1], 0.5, &p, error);
  return status ? status : SELF(td_op_bernoulli_into, R(2), T(0), p, 0);
}

/* random_(), random_(to), random_(from, to) */
CHOICE(random_) {
  int64_t from = G(2) ? I(1, 0) : 0, to = G(2) ? I(2, 0) : I(1, 0);
  return SELF(td_op_random_into, R(3), T(0), G(1) || G(2), from, to);
}

CHOICE(gelu) {
  bool tanh = G(1) && strcmp(v[1].word, "tanh") == 0;
  if (G(1) && !tanh && strcmp(v[1].word, "none") != 0)
    return td_error_set(error, TD_INVALID, "approximate argument must be either none or tanh.");
  return tanh ? ONE(td_op_gelu_tanh_with, T(0), NULL) : ONE(td_op_gelu_with, T(0), NULL);
}

CHOICE(attention) {
  td_attention attention = {.query = T(0),
                            .key = T(1),
                            .value = T(2),
                            .mask = T(3),
                            .is_causal = B(4, 0),
                            .scale = N(5, 1)};
  return ONE(td_op_attention, &attention);
}

/* PyTorch's texts for arguments that every operation refuses alike. */
static bool
check_words(const tdpy_signature *signature, const tdpy_value *values) {
  for (int i = 0; i < signature->n; i++)
    if (strcmp(signature->parameters[i].name, "reduction") == 0 && values[i].given &&
        !is_reduction(values[i].word)) {
      PyErr_Format(PyExc_ValueError, "%s is not a valid value for reduction", values[i].word);
      return false;
    }
  return true;
}

/* Compositions that check their arguments before any of their operations makes a node. */
static bool
checks_first(const char *name) {
  static const char *const names[] = {"flatten",  "unflatten", "narrow",         "chunk",
                                      "movedim",  "linear",    "outer",          "pad",
                                      "mse_loss", "l1_loss",   "smooth_l1_loss", "huber_loss"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

static void
count_failure(const tdpy_signature *signature, const tdpy_value *values, td_status status) {
  if (status == TD_VALUE || checks_first(signature->name)) return;
  td_tensor *operands[TDPY_MAX_PARAMETERS];
  for (int i = 0; i < signature->n; i++)
    operands[i] = values[i].tensor;
  if (tdpy_note_failure((uint32_t)signature->n, operands)) return;
  for (int i = 0; i < signature->n; i++)
    if (tdpy_note_failure(values[i].n_list, values[i].list)) return;
}

#define DEFINE(name, parameters, call, self_or_null)                                               \
  static PyObject *name##_python(PyObject *self, PyObject *args, PyObject *kwargs) {               \
    static tdpy_signature signature = {.text = #name " " parameters};                              \
    tdpy_value v[TDPY_MAX_PARAMETERS];                                                             \
    td_error error_ = {0}, *error = &error_;                                                       \
    tdpy_results results_ = {0}, *results = &results_;                                             \
    TDPY_INTERCEPT(#name, self_or_null, args, kwargs);                                             \
    if (!tdpy_bind(&signature, self_or_null, args, kwargs, v)) return NULL;                        \
    bool fine = check_words(&signature, v);                                                        \
    td_status status = fine ? (call) : TD_OK;                                                      \
    if (status) count_failure(&signature, v, status);                                              \
    tdpy_values_clear(&signature, v);                                                              \
    return fine ? tdpy_results_wrap(#name, status, results, error) : NULL;                         \
  }
#define TDPY_METHOD(name, parameters, call) DEFINE(name, parameters, call, self)
#define TDPY_FUNCTION(name, parameters, call) DEFINE(name, parameters, call, NULL)
#include "engine/torch/binding/operations.def"
#undef TDPY_METHOD
#undef TDPY_FUNCTION

#define TDPY_METHOD(name, parameters, call) {#name, TDPY_KEYWORDS(name##_python), NULL},
#define TDPY_FUNCTION(name, parameters, call)
PyMethodDef tdpy_operation_methods[] = {
#include "engine/torch/binding/operations.def"
    {NULL}};
#undef TDPY_METHOD
#undef TDPY_FUNCTION

#define TDPY_METHOD(name, parameters, call)
#define TDPY_FUNCTION(name, parameters, call) {#name, TDPY_KEYWORDS(name##_python), NULL},
PyMethodDef tdpy_operation_functions[] = {
#include "engine/torch/binding/operations.def"
    {NULL}};
