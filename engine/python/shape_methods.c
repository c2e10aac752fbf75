/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/ops/shape.h"
#include "engine/python/arguments.h"
#include "engine/python/errors.h"
#include "engine/python/methods.h"

#include <stdlib.h>

typedef td_status (*resize)(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out,
                            td_error *error);
typedef td_status (*cut)(td_tensor *self, int64_t size, int64_t dim, td_tensor ***out,
                         uint32_t *n_out, td_error *error);

static PyObject *
with_sizes(PyObject *self, PyObject *args, resize op) {
  tdpy_sizes sizes = {0};
  td_error error = {0};
  td_tensor *out = NULL;
  if (!tdpy_sizes_from_args(args, &sizes)) return NULL;
  td_status status = op(tdpy_tensor_of(self), sizes.n, sizes.values, &out, &error);
  return tdpy_result(status, out, &error);
}

PyObject *
tdpy_method_view(PyObject *self, PyObject *args) {
  return with_sizes(self, args, td_op_view);
}

PyObject *
tdpy_method_reshape(PyObject *self, PyObject *args) {
  return with_sizes(self, args, td_op_reshape);
}

PyObject *
tdpy_method_expand(PyObject *self, PyObject *args) {
  return with_sizes(self, args, td_op_expand);
}

PyObject *
tdpy_method_permute(PyObject *self, PyObject *args) {
  return with_sizes(self, args, td_op_permute);
}

PyObject *
tdpy_method_transpose(PyObject *self, PyObject *args) {
  long long a, b;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTuple(args, "LL:transpose", &a, &b)) return NULL;
  td_status status = td_op_transpose(tdpy_tensor_of(self), a, b, &out, &error);
  return tdpy_result(status, out, &error);
}

PyObject *
tdpy_method_flatten(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"start_dim", "end_dim", NULL};
  long long start = 0, end = -1;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|LL:flatten", names, &start, &end)) return NULL;
  td_status status = td_op_flatten(tdpy_tensor_of(self), start, end, &out, &error);
  return tdpy_result(status, out, &error);
}

PyObject *
tdpy_method_squeeze(PyObject *self, PyObject *args) {
  long long dim = 0;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTuple(args, "|L:squeeze", &dim)) return NULL;
  td_status status = PyTuple_GET_SIZE(args)
                         ? td_op_squeeze_dim(tdpy_tensor_of(self), dim, &out, &error)
                         : td_op_squeeze(tdpy_tensor_of(self), &out, &error);
  return tdpy_result(status, out, &error);
}

PyObject *
tdpy_method_unsqueeze(PyObject *self, PyObject *args) {
  long long dim;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTuple(args, "L:unsqueeze", &dim)) return NULL;
  td_status status = td_op_unsqueeze(tdpy_tensor_of(self), dim, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
take_pieces(td_tensor **pieces, uint32_t n) {
  PyObject *tuple = PyTuple_New(n);
  for (uint32_t i = 0; i < n; i++) {
    PyObject *item = tuple ? tdpy_tensor_wrap(pieces[i]) : NULL;
    if (item)
      PyTuple_SET_ITEM(tuple, i, item);
    else if (!tuple)
      td_tensor_unref(pieces[i]);
    else
      Py_CLEAR(tuple);
  }
  free(pieces);
  return tuple;
}

static PyObject *
in_pieces(PyObject *self, PyObject *args, PyObject *kwargs, char **names, cut op) {
  long long size, dim = 0;
  td_error error = {0};
  td_tensor **pieces = NULL;
  uint32_t n = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "L|L", names, &size, &dim)) return NULL;
  td_status status = op(tdpy_tensor_of(self), size, dim, &pieces, &n, &error);
  return tdpy_check(status, &error) ? take_pieces(pieces, n) : NULL;
}

PyObject *
tdpy_method_split(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"split_size", "dim", NULL};
  return in_pieces(self, args, kwargs, names, td_op_split);
}

PyObject *
tdpy_method_chunk(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"chunks", "dim", NULL};
  return in_pieces(self, args, kwargs, names, td_op_chunk);
}

PyObject *
tdpy_method_as_strided(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"size", "stride", "storage_offset", NULL};
  tdpy_sizes sizes = {0}, strides = {0};
  td_tensor *tensor = tdpy_tensor_of(self), *out = NULL;
  int64_t offset = tensor->offset;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|O&:as_strided", names, tdpy_sizes_converter,
                                   &sizes, tdpy_sizes_converter, &strides, tdpy_int_converter,
                                   &offset))
    return NULL;
  if (sizes.n != strides.n)
    return PyErr_Format(PyExc_RuntimeError, "mismatch in length of strides and shape");
  td_status status =
      td_op_as_strided(tensor, sizes.n, sizes.values, strides.values, offset, &out, &error);
  return tdpy_result(status, out, &error);
}
