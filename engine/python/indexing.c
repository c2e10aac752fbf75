/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tensor[...]: integers, slices, None, Ellipsis, tuples of them, and one int64 tensor or list of
 * rows. Each part makes the node that PyTorch makes. */
#include "engine/ops/indexing.h"
#include "engine/autograd/variable.h"
#include "engine/base/alloc.h"
#include "engine/ops/inplace.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"
#include "engine/python/arguments.h"
#include "engine/python/convert.h"
#include "engine/python/errors.h"
#include "engine/python/tensor_object.h"

/* What has been indexed so far, and the dimension that the next part is about. */
typedef struct cursor {
  td_tensor *tensor; /* (owned reference) */
  int64_t dim;
  bool sliced; /* some operation was done */
  td_tensor
      *indices[TD_MAX_DIMS]; /* (owned references) tensors in the key, or NULL where none is */
  uint32_t n_indices;
  bool writes; /* it will be written into: what is whole is no view */
} cursor;

static int
advance(cursor *at, td_status status, td_tensor *next, td_error *error) {
  if (!tdpy_check(status, error)) return 0;
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
  if (at->dim >= at->tensor->n_dims) {
    PyErr_SetString(PyExc_IndexError,
                    at->tensor->n_dims
                        ? "too many indices for tensor"
                        : "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                          "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    return 0;
  }
  td_status status = td_op_select(at->tensor, at->dim, index, &next, &error);
  return advance(at, status, next, &error);
}

/* As PyTorch: [0:n] of a dimension of size n makes no node beside other parts, [:] does. */
static int
take_slice(cursor *at, PyObject *part, bool keep_whole) {
  Py_ssize_t start, stop, step;
  td_error error = {0};
  td_tensor *next = NULL;
  if (at->dim >= at->tensor->n_dims) {
    PyErr_SetString(PyExc_IndexError, "too many indices for tensor");
    return 0;
  }
  if (PySlice_Unpack(part, &start, &stop, &step)) return 0;
  if (step <= 0) {
    PyErr_SetString(PyExc_ValueError, "step must be greater than zero");
    return 0;
  }
  int64_t length = at->tensor->sizes[at->dim++];
  if (at->writes) stop = TD_MIN(stop, length);
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

/* A tensor of numbers, or a mask, is only noted: all of them index together, at the end. */
static int
take_tensor(cursor *at, td_tensor *index) {
  if (at->dim >= at->tensor->n_dims || at->dim >= TD_MAX_DIMS) {
    PyErr_SetString(PyExc_IndexError, "too many indices for tensor");
    return 0;
  }
  at->indices[at->dim++] = td_tensor_ref(index);
  at->n_indices = (uint32_t)at->dim;
  return 1;
}

static int
take_list(cursor *at, PyObject *list) {
  td_tensor *index = tdpy_tensor_from_data(list, -1, TD_CPU);
  int fine = index && take_tensor(at, index);
  td_tensor_unref(index);
  return fine;
}

static bool
consumes_dimension(PyObject *part) {
  return part != Py_None && part != Py_Ellipsis;
}

static int
take_ellipsis(cursor *at, PyObject *parts, Py_ssize_t position) {
  int64_t later = 0;
  for (Py_ssize_t i = position + 1; i < PyTuple_GET_SIZE(parts); i++)
    later += consumes_dimension(PyTuple_GET_ITEM(parts, i));
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
    return take_tensor(at, tdpy_tensor_of(part));
  if (PyList_Check(part)) return take_list(at, part);
  if (PyIndex_Check(part)) return take_int(at, part);
  PyErr_Format(PyExc_TypeError, "tensors cannot be indexed with %s", Py_TYPE(part)->tp_name);
  return 0;
}

static void
cursor_fini(cursor *at) {
  for (uint32_t i = 0; i < at->n_indices; i++)
    td_tensor_unref(at->indices[i]);
  td_tensor_unref(at->tensor);
}

/* The view that the basic parts of a key take, and its tensors. */
static int
cursor_init(cursor *at, td_tensor *tensor, PyObject *key, bool writes) {
  PyObject *parts = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
  *at = (cursor){.tensor = td_tensor_ref(tensor), .writes = writes};
  int fine = parts != NULL;
  for (Py_ssize_t i = 0; fine && i < PyTuple_GET_SIZE(parts); i++)
    fine = take(at, parts, i);
  Py_XDECREF(parts);
  if (!fine) cursor_fini(at);
  return fine;
}

/* Returns a new reference, or NULL with an exception. */
static td_tensor *
index_tensor(td_tensor *tensor, PyObject *key) {
  cursor at;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!cursor_init(&at, tensor, key, false)) return NULL;
  td_status status = TD_OK;
  if (at.n_indices)
    status = td_op_index_many(at.tensor, at.n_indices, at.indices, &out, &error);
  else
    out = td_tensor_ref(at.tensor);
  cursor_fini(&at);
  if (tdpy_check(status, &error)) return out;
  if (status == TD_OK) td_tensor_unref(out);
  return NULL;
}

static PyObject *
get_item(PyObject *self, PyObject *key) {
  td_tensor *tensor = index_tensor(tdpy_tensor_of(self), key);
  return tensor ? tdpy_tensor_wrap(tensor) : NULL;
}

/* The value without the leading dimensions of size 1 that the place does not have, as wide as the
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

static td_tensor *
value_of(PyObject *value, const td_tensor *like) {
  td_tensor *source = tdpy_operand(value, like);
  if (!source)
    PyErr_Format(PyExc_TypeError, "can't assign a %s to a torch.%sTensor", Py_TYPE(value)->tp_name,
                 td_op_scalar_type(like->dtype));
  return source;
}

/* x[rows] = value, x[mask] = value */
static td_status
put_by_index(const cursor *at, td_tensor *value, td_error *error) {
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
    status = td_op_index_put(now.alias, at->n_indices, at->indices, bare, false, &out, error);
    status = td_in_place_end(&now, status, out, error);
  }
  td_tensor_unref(bare);
  return status;
}

static int
write_to_place(td_tensor *self, PyObject *key, PyObject *value) {
  cursor at;
  td_error error = {0};
  if (!cursor_init(&at, self, key, true)) return 0;
  td_tensor *source = value_of(value, at.tensor);
  int fine = source != NULL;
  if (fine) {
    td_status status =
        at.n_indices ? put_by_index(&at, source, &error) : write_tensor(at.tensor, source, &error);
    fine = tdpy_check(status, &error);
  }
  td_tensor_unref(source);
  cursor_fini(&at);
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

/* Row by row, each a SelectBackward0 where there is history; PyTorch's iteration is one
 * UnbindBackward0. */
PyObject *
tdpy_tensor_iterate(PyObject *self) {
  if (tdpy_tensor_of(self)->n_dims > 0) return PySeqIter_New(self);
  PyErr_SetString(PyExc_TypeError, "iteration over a 0-d tensor");
  return NULL;
}
