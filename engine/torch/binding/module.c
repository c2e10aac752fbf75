/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/module.h"

#include "engine/torch/binding/anomaly.h"
#include "engine/torch/binding/creation.h"
#include "engine/torch/binding/edge.h"
#include "engine/torch/binding/function.h"
#include "engine/torch/binding/generator.h"
#include "engine/torch/binding/hook.h"
#include "engine/torch/binding/intercept.h"
#include "engine/torch/binding/node_type.h"
#include "engine/torch/binding/operations.h"
#include "engine/torch/binding/out.h"
#include "engine/torch/binding/saved_hooks.h"
#include "engine/torch/binding/saved_tensor.h"
#include "engine/torch/binding/sparse.h"
#include "engine/torch/binding/storage_object.h"
#include "engine/torch/binding/stream.h"
#include "engine/torch/binding/tensor_type.h"
#include "engine/torch/binding/types.h"
#include "engine/torch/binding/where.h"
#include "engine/torch/ops/linalg/blas.h"

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "torch._C",
    .m_doc = "Tapedeck's engine: tensors, operations and backward passes, in C.",
    .m_size = -1,
};

/* Adds the methods of operations.def to Tensor. Their names go into `operations`: the package
 * makes them functions too. */
static int
add_operations(PyObject *module) {
  PyObject *names = PyList_New(0);
  int failed = !names;
  for (PyMethodDef *def = tdpy_operation_methods; !failed && def->ml_name; def++) {
    PyObject *method = PyDescr_NewMethod(&tdpy_tensor_type, def);
    PyObject *name = PyUnicode_FromString(def->ml_name);
    failed = !method || !name || PyDict_SetItem(tdpy_tensor_type.tp_dict, name, method) ||
             PyList_Append(names, name);
    Py_XDECREF(method);
    Py_XDECREF(name);
  }
  PyType_Modified(&tdpy_tensor_type);
  failed = failed || PyModule_AddObjectRef(module, "operations", names);
  Py_XDECREF(names);
  return failed ? -1 : 0;
}

/* add_methods({name: function}): the package writes some methods of Tensor in Python. */
static PyObject *
add_methods(PyObject *self, PyObject *methods) {
  if (!PyDict_Check(methods)) return PyErr_Format(PyExc_TypeError, "expected a dictionary");
  if (PyDict_Update(tdpy_tensor_type.tp_dict, methods)) return NULL;
  PyType_Modified(&tdpy_tensor_type);
  Py_RETURN_NONE;
}

static PyObject *
choose_kernels(PyObject *self, PyObject *unused) {
  td_blas_choose_kernels();
  Py_RETURN_NONE;
}

static PyMethodDef own_functions[] = {
    {"choose_kernels", choose_kernels, METH_NOARGS, NULL},
    {"add_methods", add_methods, METH_O, NULL},
    {"set_printoptions", tdpy_set_printoptions, METH_VARARGS, NULL},
    {"set_tangent_teller", tdpy_set_tangent_teller, METH_O, NULL},
    {NULL}};

static int
fill(PyObject *module) {
  if (tdpy_types_add(module) || tdpy_tensor_add(module) || tdpy_node_add(module) ||
      tdpy_hook_add(module) || tdpy_function_add(module) || tdpy_edge_add(module) ||
      tdpy_graph_task_add() || tdpy_saved_add(module) || tdpy_out_add(module) ||
      tdpy_anomaly_add(module) || tdpy_where_add() || tdpy_generator_add(module) ||
      tdpy_storage_add(module))
    return -1;
  PyMethodDef *tables[] = {own_functions,
                           tdpy_construct_functions,
                           tdpy_range_functions,
                           tdpy_dtype_functions,
                           tdpy_operation_functions,
                           tdpy_sparse_functions,
                           tdpy_error_functions,
                           tdpy_layer_functions,
                           tdpy_autograd_functions,
                           tdpy_graph_task_functions,
                           tdpy_session_functions,
                           tdpy_saved_hooks_functions,
                           tdpy_saved_tensor_functions,
                           tdpy_stream_functions,
                           tdpy_write_watch_functions,
                           tdpy_intercept_functions,
                           tdpy_creation_functions};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (PyModule_AddFunctions(module, tables[i])) return -1;
  return add_operations(module);
}

PyMODINIT_FUNC
PyInit__C(void) {
  PyObject *module = PyModule_Create(&module_def);
  if (module && fill(module)) Py_CLEAR(module);
  return module;
}
