/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations whose arguments bind.h reads. Each row of operations.def becomes a Python function.
 * Below are the calls that choose between several operations. */
#include "engine/python/operations.h"

#include "engine/ops/dropout.h"
#include "engine/python/bind.h"
#include "engine/python/errors.h"
#include "engine/python/tensor_object.h"

#include "engine/ops/compare.h"
#include "engine/ops/indexing.h"
#include "engine/ops/linalg.h"
#include "engine/ops/loss.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reductions.h"
#include "engine/ops/shape.h"

#include <math.h>
#include <string.h>

/* The result of an operation: `one`, or `one` and `two`, or a list. */
typedef struct results {
  td_tensor *one, *two; /* (owned references) */
  td_tensor **many;     /* (owned) of n owned references */
  uint32_t n;
  PyObject *truth; /* (borrowed) */
} results_of;

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
#define TRUTH(condition) (results->truth = (condition) ? Py_True : Py_False, TD_OK)
#define CHOICE(name) static td_status name(tdpy_value *v, td_error *error, results_of *results)

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
  *number = read.value;
  return TD_OK;
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
  return status ? status : ONE(td_op_clamp_with, T(0), ((double[3]){low, high}));
}

CHOICE(masked_fill) {
  double number;
  if (is_tensor(&v[2]))
    return ONE(td_op_masked_fill_tensor, T(0), T(1), tdpy_tensor_of(v[2].object));
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

CHOICE(where) {
  if (v[1].given && v[2].given)
    return where_of(T(0), v[1].object, v[2].object, &results->one, error);
  td_tensor *places = NULL;
  td_status status = td_op_nonzero(T(0), &places, error);
  if (!status) status = MANY(td_op_unbind, places, 1);
  td_tensor_unref(places);
  return status;
}

CHOICE(divide) {
  td_tensor *quotient = NULL;
  if (!G(2)) return ONE(td_op_div, T(0), T(1));
  if (strcmp(v[2].word, "floor") != 0 && strcmp(v[2].word, "trunc") != 0)
    return td_error_set(error, TD_INVALID,
                        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
                        "found '%s'",
                        v[2].word);
  td_status status = td_op_div(T(0), T(1), &quotient, error);
  if (!status)
    status = v[2].word[0] == 'f' ? ONE(td_op_floor, quotient) : ONE(td_op_trunc, quotient);
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
reduce(reduce_all all, reduce_dims some, tdpy_value *v, td_error *error, results_of *results) {
  td_tensor *self = NULL;
  td_status status = as_dtype(&v[0], &v[3], &self, error);
  if (status) return status;
  status = G(1) ? some(self, S(1), B(2, 0), &results->one, error) : all(self, &results->one, error);
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
softmax(along op, tdpy_value *v, td_error *error, results_of *results) {
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
spread(spread_op op, tdpy_value *v, td_error *error, results_of *results) {
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
  if (is_tensor(&v[3])) return ONE(td_op_scatter, T(0), I(1, 0), T(2), tdpy_tensor_of(v[3].object));
  td_status status = number_of(&v[3], 0, &number, error);
  return status ? status : ONE(td_op_scatter_value, T(0), I(1, 0), T(2), number);
}

CHOICE(gelu) {
  bool tanh = G(1) && strcmp(v[1].word, "tanh") == 0;
  if (G(1) && !tanh && strcmp(v[1].word, "none") != 0)
    return td_error_set(error, TD_INVALID, "approximate argument must be either none or tanh.");
  return tanh ? ONE(td_op_gelu_tanh_with, T(0), NULL) : ONE(td_op_gelu_with, T(0), NULL);
}

static PyObject *
wrap_many(td_tensor **many, uint32_t n) {
  PyObject *tuple = PyTuple_New(n);
  for (uint32_t i = 0; i < n; i++) {
    PyObject *item = tuple ? tdpy_tensor_wrap(many[i]) : NULL;
    if (tuple) PyTuple_SET_ITEM(tuple, i, item);
  }
  free(many);
  return tuple;
}

static PyObject *
pair_repr(PyObject *pair) {
  return PyUnicode_FromFormat("%s(\nvalues=%R,\nindices=%R)", Py_TYPE(pair)->tp_name,
                              PyStructSequence_GetItem(pair, 0), PyStructSequence_GetItem(pair, 1));
}

/* A pair has names, as torch.return_types.max. */
static PyObject *
wrap_pair(const char *name, td_tensor *values, td_tensor *indices) {
  static PyTypeObject *types[2];
  static PyStructSequence_Field fields[] = {{"values", NULL}, {"indices", NULL}, {NULL}};
  int which = strcmp(name, "min") == 0;
  PyStructSequence_Desc description = {which ? "torch.return_types.min" : "torch.return_types.max",
                                       NULL, fields, 2};
  if (!types[which]) types[which] = PyStructSequence_NewType(&description);
  PyTypeObject *type = types[which];
  if (type) type->tp_repr = pair_repr;
  PyObject *pair = type ? PyStructSequence_New(type) : NULL;
  if (!pair) return NULL;
  PyStructSequence_SET_ITEM(pair, 0, tdpy_tensor_wrap(values));
  PyStructSequence_SET_ITEM(pair, 1, tdpy_tensor_wrap(indices));
  return pair;
}

static void
drop(results_of *results) {
  td_tensor_unref(results->one);
  td_tensor_unref(results->two);
  for (uint32_t i = 0; i < results->n; i++)
    td_tensor_unref(results->many[i]);
  free(results->many);
}

static PyObject *
finish(const char *name, td_status status, results_of *results, td_error *error) {
  bool returned = status == TD_OK; /* results may be there although an error is pending */
  if (!tdpy_check(status, error)) {
    if (returned) drop(results);
    return NULL;
  }
  if (results->truth) return Py_NewRef(results->truth);
  if (results->many) return wrap_many(results->many, results->n);
  if (results->two) return wrap_pair(name, results->one, results->two);
  return tdpy_tensor_wrap(results->one);
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

#define DEFINE(name, parameters, call, self_or_null)                                               \
  static PyObject *name##_python(PyObject *self, PyObject *args, PyObject *kwargs) {               \
    static tdpy_signature signature = {.text = #name " " parameters};                              \
    tdpy_value v[TDPY_MAX_PARAMETERS];                                                             \
    td_error error_ = {0}, *error = &error_;                                                       \
    results_of results_ = {0}, *results = &results_;                                               \
    if (!tdpy_bind(&signature, self_or_null, args, kwargs, v)) return NULL;                        \
    bool fine = check_words(&signature, v);                                                        \
    td_status status = fine ? (call) : TD_OK;                                                      \
    tdpy_values_clear(&signature, v);                                                              \
    return fine ? finish(#name, status, results, error) : NULL;                                    \
  }
#define TDPY_METHOD(name, parameters, call) DEFINE(name, parameters, call, self)
#define TDPY_FUNCTION(name, parameters, call) DEFINE(name, parameters, call, NULL)
#include "engine/python/operations.def"
#undef TDPY_METHOD
#undef TDPY_FUNCTION

#define TDPY_METHOD(name, parameters, call) {#name, TDPY_KEYWORDS(name##_python), NULL},
#define TDPY_FUNCTION(name, parameters, call)
PyMethodDef tdpy_operation_methods[] = {
#include "engine/python/operations.def"
    {NULL}};
#undef TDPY_METHOD
#undef TDPY_FUNCTION

#define TDPY_METHOD(name, parameters, call)
#define TDPY_FUNCTION(name, parameters, call) {#name, TDPY_KEYWORDS(name##_python), NULL},
PyMethodDef tdpy_operation_functions[] = {
#include "engine/python/operations.def"
    {NULL}};
