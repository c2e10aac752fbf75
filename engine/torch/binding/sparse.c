/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How programs make sparse tensors and see their parts. */
#include "engine/torch/binding/sparse.h"

#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/convert.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/tensor_object.h"

#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/tensor/kernels.h"
#include "engine/torch/tensor/sparse.h"

/* Raises an exception if the tensor is dense. PyTorch's text names the method. */
static td_sparse *
sparse_of(PyObject *self, const char *what) {
  td_sparse *sparse = tdpy_tensor_of(self)->sparse;
  if (!sparse)
    PyErr_Format(PyExc_RuntimeError, "%s expected sparse coordinate tensor layout but got Strided",
                 what);
  return sparse;
}

static bool
is_coalesced(const td_sparse *sparse, const char *what) {
  if (!sparse || sparse->coalesced) return sparse != NULL;
  PyErr_Format(PyExc_RuntimeError,
               "Cannot get %s on an uncoalesced tensor, please call .coalesce() first", what);
  return false;
}

PyObject *
tdpy_sparse_raw_indices(PyObject *self, PyObject *unused) {
  td_sparse *sparse = sparse_of(self, "_indices");
  return sparse ? tdpy_tensor_wrap(td_tensor_ref(sparse->indices)) : NULL;
}

PyObject *
tdpy_sparse_raw_values(PyObject *self, PyObject *unused) {
  td_sparse *sparse = sparse_of(self, "_values");
  return sparse ? tdpy_tensor_wrap(td_tensor_ref(sparse->values)) : NULL;
}

PyObject *
tdpy_sparse_indices(PyObject *self, PyObject *unused) {
  return is_coalesced(sparse_of(self, "indices"), "indices") ? tdpy_sparse_raw_indices(self, NULL)
                                                             : NULL;
}

PyObject *
tdpy_sparse_values(PyObject *self, PyObject *unused) {
  return is_coalesced(sparse_of(self, "values"), "values") ? tdpy_sparse_raw_values(self, NULL)
                                                           : NULL;
}

PyObject *
tdpy_sparse_nnz(PyObject *self, PyObject *unused) {
  td_sparse *sparse = sparse_of(self, "_nnz");
  return sparse ? PyLong_FromLongLong(sparse->values->sizes[0]) : NULL;
}

PyObject *
tdpy_sparse_dim(PyObject *self, PyObject *unused) {
  td_sparse *sparse = sparse_of(self, "sparse_dim");
  return sparse ? PyLong_FromLongLong(sparse->indices->sizes[0]) : NULL;
}

PyObject *
tdpy_sparse_dense_dim(PyObject *self, PyObject *unused) {
  td_sparse *sparse = sparse_of(self, "dense_dim");
  return sparse ? PyLong_FromLong(sparse->values->n_dims - 1) : NULL;
}

PyObject *
tdpy_sparse_is_coalesced(PyObject *self, PyObject *unused) {
  td_sparse *sparse = sparse_of(self, "is_coalesced");
  return sparse ? PyBool_FromLong(sparse->coalesced) : NULL;
}

PyObject *
tdpy_sparse_coalesce(PyObject *self, PyObject *unused) {
  td_error error = {0};
  td_tensor *out = NULL;
  if (!sparse_of(self, "coalesce")) return NULL;
  td_status status = td_sparse_coalesce(tdpy_tensor_of(self), &out, &error);
  return tdpy_result(status, out, &error);
}

PyObject *
tdpy_sparse_to_dense(PyObject *self, PyObject *unused) {
  td_error error = {0};
  td_tensor *out = NULL;
  if (!tdpy_tensor_of(self)->sparse) return Py_NewRef(self);
  td_status status = td_sparse_to_dense(tdpy_tensor_of(self), &out, &error);
  return tdpy_result(status, out, &error);
}

/* The sizes of a tensor without size=: those that the largest indices need, then those of the
 * values. */
static void
infer_sizes(const td_tensor *indices, const td_tensor *values, tdpy_sizes *sizes) {
  int64_t nnz = indices->n_dims == 2 ? indices->sizes[1] : 0;
  for (int64_t dim = 0; indices->n_dims == 2 && dim < indices->sizes[0]; dim++) {
    int64_t size = 0;
    for (int64_t i = 0; i < nnz; i++) {
      int64_t index = (int64_t)td_tensor_get(indices, dim * nnz + i);
      if (index >= size) size = index + 1;
    }
    sizes->values[sizes->n++] = size;
  }
  for (int dim = 1; dim < values->n_dims; dim++)
    sizes->values[sizes->n++] = values->sizes[dim];
}

/* Makes a tensor of a list, or takes a tensor: (owned reference), or NULL with an exception. */
static td_tensor *
tensor_from(PyObject *object, int dtype) {
  return tdpy_tensor_from_data(object, dtype, TD_CPU);
}

static PyObject *
make(PyObject *indices_object, PyObject *values_object, tdpy_sizes *sizes, bool has_sizes,
     const tdpy_options *options) {
  td_error error = {0};
  td_tensor *out = NULL, *indices = tensor_from(indices_object, TD_INT64);
  td_tensor *values =
      indices ? tensor_from(values_object, options->dtype == TD_N_DTYPES ? -1 : (int)options->dtype)
              : NULL;
  int fine = indices && values;
  if (fine && !has_sizes) infer_sizes(indices, values, sizes);
  if (fine)
    fine = tdpy_check(td_sparse_new(indices, values, sizes->n, sizes->values, false, &out, &error),
                      &error);
  if (fine && options->requires_grad)
    fine = tdpy_check(td_set_requires_grad(out, true, &error), &error);
  td_tensor_unref(indices);
  td_tensor_unref(values);
  return fine ? tdpy_tensor_wrap(out) : NULL;
}

static PyObject *
sparse_coo_tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *indices, *values, *size = Py_None;
  tdpy_sizes sizes = {0};
  tdpy_options options = {.dtype = TD_N_DTYPES, .device = TD_CPU};
  if (!PyArg_ParseTuple(args, "OO|O:sparse_coo_tensor", &indices, &values, &size)) return NULL;
  PyObject *named = kwargs ? PyDict_GetItemString(kwargs, "size") : NULL;
  if (named) {
    size = named;
    PyDict_DelItemString(kwargs, "size");
  }
  if (!tdpy_sizes_converter(size, &sizes) ||
      !tdpy_options_read("sparse_coo_tensor", kwargs, &options))
    return NULL;
  return make(indices, values, &sizes, size != Py_None, &options);
}

PyMethodDef tdpy_sparse_functions[] = {{"sparse_coo_tensor", TDPY_KEYWORDS(sparse_coo_tensor),
                                        "A sparse tensor of indices [sparse_dim, n] and n values."},
                                       {NULL}};
