/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tensor[...]: integers, slices, None, Ellipsis, tensors and lists of indices, masks, and tuples
 * of them. Each part makes the same node as in PyTorch. */
#include "engine/torch/ops/indexing/indexing.h"
#include "engine/base/alloc.h"
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/convert.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/tensor_type.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/shape/inplace.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"

#include <string.h>

/* The result of the parts so far, and the dimension of the next part. */
typedef struct cursor {
  td_tensor *tensor; /* (owned reference) */
  int64_t dim;
  int n_given; /* dimensions of the tensor that is indexed */
  bool sliced; /* some operation was done */
  bool writes; /* the caller writes into it: a whole tensor is not made a view */

  td_tensor *indices[TD_MAX_DIMS]; /* (owned references) one per dimension, or mask; NULL: all */
  int n_indices, masked;           /* masked: dimensions that masks cover beyond their first */
} cursor;

static int
advance(cursor *at, td_status status, td_tensor *next, td_error *error) {
  bool returned = status == TD_OK; /* a tensor may be there although an error is pending */
  if (!tdpy_check(status, error)) {
    if (returned) td_tensor_unref(next);
    return 0;
  }
  td_tensor_unref(at->tensor);
  at->tensor = next;
  at->sliced = true;
  return 1;
}

static int
take_int(cursor *at, PyObject *part) {
  td_error error = {0};
  td_tensor *next = NULL;
  PyObject *number = PyNumber_Index(part);
  int64_t index = 0;
  int fine = number && tdpy_int_converter(number, &index);
  Py_XDECREF(number);
  if (!fine) return 0;
  if (at->dim >= at->tensor->n_dims && at->n_given > 0) {
    PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d", at->n_given);
    return 0;
  }
  if (at->dim >= at->tensor->n_dims) {
    PyErr_SetString(PyExc_IndexError,
                    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                    "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    return 0;
  }
  td_status status = td_op_select(at->tensor, at->dim, index, &next, &error);
  return advance(at, status, next, &error);
}

/* As in PyTorch, a slice of a whole dimension makes no node beside other parts. In PyTorch 1
 * that is so only if the slice has an end. */
static int
take_slice(cursor *at, PyObject *part, bool keep_whole) {
  Py_ssize_t start, stop, step;
  td_error error = {0};
  td_tensor *next = NULL;
  if (!keep_whole && at->n_given == 0) {
    td_status refused = td_op_slice(at->tensor, 0, 0, 0, 1, &next, &error);
    tdpy_note_failure(1, &at->tensor);
    return advance(at, refused, next, &error);
  }
  if (at->dim >= at->tensor->n_dims) {
    PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d", at->n_given);
    return 0;
  }
  if (PySlice_Unpack(part, &start, &stop, &step)) return 0;
  if (step <= 0) {
    PyErr_SetString(PyExc_ValueError, "step must be greater than zero");
    return 0;
  }
  int64_t length = at->tensor->sizes[at->dim++];
  if (at->writes || td_policy(plain_names)) stop = TD_MIN(stop, length);
  if ((keep_whole || at->writes) && start == 0 && stop == length && step == 1) return 1;
  PySlice_AdjustIndices(length, &start, &stop, step);
  td_status status = td_op_slice(at->tensor, at->dim - 1, start, stop, step, &next, &error);
  return advance(at, status, next, &error);
}

static int
take_new_dimension(cursor *at) {
  td_error error = {0};
  td_tensor *next = NULL;
  td_status status = td_op_unsqueeze(at->tensor, at->dim, &next, &error);
  at->dim++;
  return advance(at, status, next, &error);
}

/* Index tensors are applied last: together they are one operation. */
static int
take_indices(cursor *at, td_tensor *indices) {
  int covers = indices->dtype == TD_BOOL ? indices->n_dims : 1;
  if (at->dim + covers > at->tensor->n_dims) {
    PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d", at->n_given);
    return 0;
  }
  while (at->n_indices < at->dim - at->masked)
    at->indices[at->n_indices++] = NULL;
  at->indices[at->n_indices++] = td_tensor_ref(indices);
  at->masked += covers - 1;
  at->dim += covers;
  return 1;
}

/* True, False, or a boolean tensor without dimensions. */
static bool
is_truth(PyObject *part) {
  return PyBool_Check(part) || (tdpy_tensor_is(part) && tdpy_tensor_of(part)->dtype == TD_BOOL &&
                                tdpy_tensor_of(part)->n_dims == 0);
}

/* An array of numpy without dimensions has no length: it is a number. */
static bool
is_array(PyObject *part) {
  if (strcmp(Py_TYPE(part)->tp_name, "numpy.ndarray") != 0) return false;
  bool has_length = PyObject_Length(part) >= 0;
  PyErr_Clear();
  return has_length;
}

/* A mask over a dimension of its own, of size 1. */
static int
take_truth(cursor *at, PyObject *part) {
  int truth = PyObject_IsTrue(part);
  int64_t one = 1;
  td_tensor *mask = NULL;
  td_error error = {0};
  int dim = (int)at->dim;
  if (truth < 0 || !take_new_dimension(at)) return 0;
  at->dim = dim;
  if (!tdpy_check(td_tensor_new(TD_BOOL, TD_CPU, 1, &one, &mask, &error), &error)) return 0;
  td_kernel_fill(mask, truth);
  int fine = take_indices(at, mask);
  td_tensor_unref(mask);
  return fine;
}

static int
take_list(cursor *at, PyObject *sequence) {
  PyObject *list = PySequence_List(sequence); /* of a range too */
  bool is_empty = list && PyList_GET_SIZE(list) == 0;
  td_tensor *rows = list ? tdpy_tensor_from_data(is_array(sequence) ? sequence : list,
                                                 is_empty ? TD_INT64 : -1, TD_CPU)
                         : NULL;
  Py_XDECREF(list);
  int fine = rows && take_indices(at, rows);
  td_tensor_unref(rows);
  return fine;
}

/* A text counts as a sequence, which has no numbers. */
static int
take_text(PyObject *text) {
  PyErr_Format(PyExc_TypeError, "new(): invalid data type '%s'", Py_TYPE(text)->tp_name);
  return 0;
}

static int
dims_of_part(PyObject *part) {
  if (is_truth(part)) return 0;
  if (tdpy_tensor_is(part) && tdpy_tensor_of(part)->dtype == TD_BOOL)
    return tdpy_tensor_of(part)->n_dims;
  return part != Py_None && part != Py_Ellipsis;
}

static int
take_ellipsis(cursor *at, PyObject *parts, Py_ssize_t position) {
  int64_t later = 0;
  for (Py_ssize_t i = position + 1; i < PyTuple_GET_SIZE(parts); i++)
    later += dims_of_part(PyTuple_GET_ITEM(parts, i));
  at->dim = TD_MAX(at->dim, at->tensor->n_dims - later);
  return 1;
}

static int
take(cursor *at, PyObject *parts, Py_ssize_t position) {
  PyObject *part = PyTuple_GET_ITEM(parts, position);
  if (part == Py_None) return take_new_dimension(at);
  if (part == Py_Ellipsis) return take_ellipsis(at, parts, position);
  if (PySlice_Check(part)) return take_slice(at, part, PyTuple_GET_SIZE(parts) > 1);
  if (tdpy_tensor_is(part) && tdpy_tensor_of(part)->n_dims > 0)
    return take_indices(at, tdpy_tensor_of(part));
  if (is_truth(part)) return take_truth(at, part);
  if (PyIndex_Check(part) && !is_array(part)) return take_int(at, part);
  if (PyUnicode_Check(part)) return take_text(part);
  if (PySequence_Check(part)) return take_list(at, part);
  PyErr_Format(PyExc_IndexError,
               "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
               "valid indices (got %s)",
               Py_TYPE(part)->tp_name);
  return 0;
}

static void
cursor_clear(cursor *at) {
  td_tensor_unref(at->tensor);
  for (int i = 0; i < at->n_indices; i++)
    td_tensor_unref(at->indices[i]);
}

static bool
is_part(PyObject *item) {
  return tdpy_tensor_is(item) || PySequence_Check(item) || PySlice_Check(item) ||
         item == Py_Ellipsis || item == Py_None;
}

static int
warn_of_list(void) {
  if (!td_policy(name_operations)) return 1;
  return PyErr_WarnEx(PyExc_UserWarning,
                      "Using a non-tuple sequence for multidimensional indexing is deprecated and "
                      "will be changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In "
                      "pytorch 2.9 this will be interpreted as tensor index, "
                      "x[torch.tensor(seq)], which will result either in an error or a different "
                      "result",
                      1) == 0;
}

/* The parts as a tuple. A short list is one too, if something in it can be no number. */
static PyObject *
parts_of(PyObject *key) {
  if (PyTuple_Check(key)) return Py_NewRef(key);
  bool is_tuple = false;
  for (Py_ssize_t i = 0;
       PyList_Check(key) && PyList_GET_SIZE(key) < 32 && !is_tuple && i < PyList_GET_SIZE(key); i++)
    is_tuple = is_part(PyList_GET_ITEM(key, i));
  if (!is_tuple) return PyTuple_Pack(1, key);
  return warn_of_list() ? PyList_AsTuple(key) : NULL;
}

/* Applies all parts but index tensors, which it collects. Returns 0 with an exception; there is
 * nothing to clear then. */
static int
follow(cursor *at, td_tensor *tensor, PyObject *key, bool writes) {
  PyObject *parts = parts_of(key);
  *at = (cursor){.tensor = td_tensor_ref(tensor), .n_given = tensor->n_dims, .writes = writes};
  int fine = parts != NULL;
  for (Py_ssize_t i = 0; fine && i < PyTuple_GET_SIZE(parts); i++)
    fine = take(at, parts, i);
  Py_XDECREF(parts);
  if (!fine) cursor_clear(at);
  return fine;
}

static PyObject *
get_item(PyObject *self, PyObject *key) {
  cursor at;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!follow(&at, tdpy_tensor_of(self), key, false)) return NULL;
  td_status status = TD_OK;
  if (at.n_indices)
    status = td_op_index_many(at.tensor, (uint32_t)at.n_indices, at.indices, &out, &error);
  else if (at.sliced)
    out = td_tensor_ref(at.tensor);
  else
    status = td_op_alias(at.tensor, &out, &error);
  cursor_clear(&at);
  return tdpy_result(status, out, &error);
}

/* The value without leading dimensions of size 1 that the place does not have, expanded to the
 * place. */
static td_status
fit_value(td_tensor *place, td_tensor *value, td_tensor **out, td_error *error) {
  int first = 0;
  while (first < value->n_dims && value->sizes[first] == 1)
    first++;
  td_tensor *bare = NULL;
  td_status status = td_op_view(value, value->n_dims - first, value->sizes + first, &bare, error);
  if (!status && td_tensor_same_sizes(bare, place))
    *out = td_tensor_ref(bare);
  else if (!status)
    status = td_op_expand(bare, place->n_dims, place->sizes, out, error);
  td_tensor_unref(bare);
  return status;
}

static td_status
write_tensor(td_tensor *place, td_tensor *value, td_error *error) {
  if (td_tensor_same_sizes(place, value)) return td_op_copy_into(place, value, error);
  if (value->n_dims == 0 && value->device == TD_CPU)
    return td_op_fill_tensor_into(place, value, error);
  td_tensor *fitted = NULL;
  td_status status = fit_value(place, value, &fitted, error);
  if (!status) status = td_op_copy_into(place, fitted, error);
  td_tensor_unref(fitted);
  return status;
}

/* A complex number of Python must fit; a complex tensor may lose its imaginary part. */
static bool
fits(PyObject *value, const td_tensor *like) {
  td_error error = {0};
  tdpy_number number;
  if (!PyComplex_Check(value) || !tdpy_number_read(value, &number)) return true;
  td_complex128 complex = __builtin_complex(number.value, number.imaginary);
  return tdpy_check(td_op_check_real(like->dtype, complex, &error), &error);
}

static td_tensor *
value_of(PyObject *value, const td_tensor *like) {
  if (!fits(value, like)) return NULL;
  td_tensor *source = tdpy_operand(value, like);
  if (!source)
    PyErr_Format(PyExc_TypeError, "can't assign a %s to a torch.%sTensor", Py_TYPE(value)->tp_name,
                 td_op_scalar_type(like->dtype));
  return source;
}

/* The one index tensor that there is, and its dimension; NULL if there are several. */
static td_tensor *
only_index(const cursor *at, int *dim) {
  td_tensor *only = NULL;
  for (int i = 0; i < at->n_indices; i++) {
    if (!at->indices[i]) continue;
    if (only) return NULL;
    only = at->indices[i];
    *dim = i;
  }
  return only;
}

/* Where a mask takes one number, PyTorch reads it before it writes. */
static td_overlap
allowed_overlap(const cursor *at, const td_tensor *value) {
  int dim;
  td_tensor *index = td_tensor_n_elements(value) == 1 ? only_index(at, &dim) : NULL;
  return index && index->dtype == TD_BOOL ? TD_OVERLAP_PARTIAL : TD_OVERLAP_NONE;
}

/* index_put_. Other parts make a view first. Leading dimensions of size 1 of the value do not
 * count. */
static td_status
write_indexed(const cursor *at, td_tensor *value, td_error *error) {
  td_in_place now;
  td_tensor *bare = NULL, *out = NULL;
  int first = 0;
  while (first < value->n_dims && value->sizes[first] == 1)
    first++;
  td_status status = TD_OK;
  if (first)
    status = td_op_view(value, value->n_dims - first, value->sizes + first, &bare, error);
  else
    bare = td_tensor_ref(value);
  if (!status)
    status = td_in_place_begin(&now, "index_put_", (td_tensor *[]){at->tensor, bare}, 2, error);
  if (!status) {
    now.allowed = allowed_overlap(at, bare);
    status =
        td_op_index_put(now.alias, (uint32_t)at->n_indices, at->indices, bare, false, &out, error);
    status = td_in_place_end(&now, status, out, error);
  }
  td_tensor_unref(bare);
  return status;
}

static bool
mask_fits(const td_tensor *self, int dim, const td_tensor *mask) {
  for (int i = 0; i < mask->n_dims; i++)
    if (mask->sizes[i] != self->sizes[dim + i]) return false;
  return true;
}

/* The mask, with a size of 1 for each dimension behind those that it covers. */
static td_status
fill_masked(td_tensor *self, int dim, td_tensor *mask, double number, td_error *error) {
  td_in_place now;
  td_tensor *wide = NULL, *out = NULL;
  int64_t sizes[TD_MAX_DIMS];
  int n_dims = self->n_dims - dim;
  for (int i = 0; i < n_dims; i++)
    sizes[i] = i < mask->n_dims ? mask->sizes[i] : 1;
  td_status status = td_op_view(mask, n_dims, sizes, &wide, error);
  if (!status) status = td_in_place_begin(&now, "masked_fill_", &self, 1, error);
  if (!status) {
    status = td_op_masked_fill(now.alias, wide, number, &out, error);
    status = td_in_place_end(&now, status, out, error);
  }
  td_tensor_unref(wide);
  return status;
}

static td_status
fill_indexed(td_tensor *self, int dim, td_tensor *index, double number, td_error *error) {
  td_in_place now;
  td_tensor *flat = NULL, *out = NULL;
  td_status status = td_op_reshape(index, 1, (int64_t[]){-1}, &flat, error);
  if (!status) status = td_in_place_begin(&now, "index_fill_", &self, 1, error);
  if (!status) {
    status = td_op_index_fill(now.alias, dim, flat, number, &out, error);
    status = td_in_place_end(&now, status, out, error);
  }
  td_tensor_unref(flat);
  return status;
}

/* Since PyTorch 2.15 a number need not be a tensor first, unless there are several index tensors.
 * Returns false if this write is none of these; it then has done nothing. */
static bool
write_number(const cursor *at, PyObject *value, td_status *status, td_error *error) {
  tdpy_number number;
  int dim = 0;
  if (!td_policy(fills_by_index) || !(PyFloat_Check(value) || PyLong_Check(value)) ||
      !tdpy_number_read(value, &number))
    return false;
  td_tensor *index = only_index(at, &dim);
  if (!at->n_indices)
    *status = td_op_fill_into(at->tensor, number.value, error);
  else if (index && index->dtype == TD_INT64)
    *status = fill_indexed(at->tensor, dim, index, number.value, error);
  else if (index && index->dtype == TD_BOOL && mask_fits(at->tensor, dim, index))
    *status = fill_masked(at->tensor, dim, index, number.value, error);
  else
    return false;
  return true;
}

static int
write_to_place(td_tensor *self, PyObject *key, PyObject *value) {
  td_error error = {0};
  cursor at;
  if (!follow(&at, self, key, true)) return 0;
  td_status status = TD_OK;
  td_tensor *source = NULL;
  if (!write_number(&at, value, &status, &error)) {
    source = value_of(value, at.tensor);
    if (source)
      status = at.n_indices ? write_indexed(&at, source, &error)
                            : write_tensor(at.tensor, source, &error);
  }
  int fine = tdpy_check(status, &error) && !PyErr_Occurred();
  td_tensor_unref(source);
  cursor_clear(&at);
  return fine;
}

static int
set_item(PyObject *self, PyObject *key, PyObject *value) {
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
    return -1;
  }
  return write_to_place(tdpy_tensor_of(self), key, value) ? 0 : -1;
}

static Py_ssize_t
get_length(PyObject *self) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  if (tensor->n_dims) return tensor->sizes[0];
  PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
  return -1;
}

PyMappingMethods tdpy_tensor_mapping = {
    .mp_length = get_length, .mp_subscript = get_item, .mp_ass_subscript = set_item};

static PyObject *
get_row(PyObject *self, Py_ssize_t i) {
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_select(tdpy_tensor_of(self), 0, i, &out, &error);
  return tdpy_result(status, out, &error);
}

PySequenceMethods tdpy_tensor_sequence = {.sq_item = get_row};

/* One UnbindBackward0 for all rows. */
PyObject *
tdpy_tensor_iterate(PyObject *self) {
  td_tensor **rows = NULL;
  uint32_t n = 0;
  td_error error = {0};
  if (tdpy_tensor_of(self)->n_dims == 0) {
    PyErr_SetString(PyExc_TypeError, "iteration over a 0-d tensor");
    return NULL;
  }
  td_status status = td_op_unbind(tdpy_tensor_of(self), 0, &rows, &n, &error);
  bool fine = tdpy_check(status, &error); /* rows may be there although an error is pending */
  if (status) return NULL;
  PyObject *tuple = fine ? PyTuple_New(n) : NULL;
  for (uint32_t i = 0; i < n; i++)
    if (tuple)
      PyTuple_SET_ITEM(tuple, i, tdpy_tensor_wrap(rows[i]));
    else
      td_tensor_unref(rows[i]);
  free(rows);
  PyObject *iterator = tuple ? PyObject_GetIter(tuple) : NULL;
  Py_XDECREF(tuple);
  return iterator;
}
