/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/results.h"

#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/tensor_object.h"

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

/* torch.return_types.max and so on, made at its first use: (borrowed) or NULL. */
static PyTypeObject *
pair_type(const char *name) {
  static PyStructSequence_Field fields[] = {{"values", NULL}, {"indices", NULL}, {NULL}};
  static PyObject *types;
  char full[64];
  if (!types) types = PyDict_New();
  PyObject *known = types ? PyDict_GetItemString(types, name) : NULL;
  if (known || !types) return (PyTypeObject *)known;
  snprintf(full, sizeof full, "torch.return_types.%s", name);
  PyStructSequence_Desc description = {full, NULL, fields, 2};
  PyTypeObject *type = PyStructSequence_NewType(&description);
  if (!type) return NULL;
  type->tp_repr = pair_repr;
  int failed = PyDict_SetItemString(types, name, (PyObject *)type);
  Py_DECREF(type);
  return failed ? NULL : type;
}

static PyObject *
wrap_pair(const char *name, td_tensor *values, td_tensor *indices) {
  PyTypeObject *type = pair_type(name);
  PyObject *pair = type ? PyStructSequence_New(type) : NULL;
  if (!pair) return NULL;
  PyStructSequence_SET_ITEM(pair, 0, tdpy_tensor_wrap(values));
  PyStructSequence_SET_ITEM(pair, 1, tdpy_tensor_wrap(indices));
  return pair;
}

static void
drop(tdpy_results *results) {
  td_tensor_unref(results->one);
  td_tensor_unref(results->two);
  for (uint32_t i = 0; i < results->n; i++)
    td_tensor_unref(results->many[i]);
  free(results->many);
}

PyObject *
tdpy_results_wrap(const char *name, td_status status, tdpy_results *results, td_error *error) {
  bool returned = status == TD_OK; /* results may be there although an error is pending */
  if (!tdpy_check(status, error)) {
    if (returned) drop(results);
    return NULL;
  }
  if (results->truth) return Py_NewRef(results->truth);
  if (results->many) return wrap_many(results->many, results->n);
  if (results->is_plain) {
    td_tensor *pair[] = {results->one, results->two};
    PyObject *tuple = tdpy_tensors_wrap(pair, 2);
    drop(results);
    return tuple;
  }
  if (results->two) return wrap_pair(name, results->one, results->two);
  return tdpy_tensor_wrap(results->one);
}
