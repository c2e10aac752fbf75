/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/python/out.h"

#include "engine/graph/in_place.h"
#include "engine/graph/version.h"
#include "engine/graph/views.h"
#include "engine/ops/inplace.h"
#include "engine/python/arguments.h"
#include "engine/python/errors.h"
#include "engine/python/inplace.h"
#include "engine/python/tensor_object.h"
#include "engine/tensor/factories.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

typedef struct out_function {
  PyObject_HEAD vectorcallfunc call;
  PyObject *function; /* (owned reference) what computes the result */
  PyObject *name;     /* (owned reference) */
} out_function;

static bool
needs_history(PyObject *const *args, Py_ssize_t n, const td_tensor *out) {
  if (!td_grad_mode() || td_inference_mode()) return false;
  for (Py_ssize_t i = 0; i < n; i++)
    if (tdpy_tensor_is(args[i]) && td_requires_grad(tdpy_tensor_of(args[i]))) return true;
  return td_requires_grad(out);
}

/* Forward mode has an error of its own. Returns false if it raised it. */
static bool
has_no_tangent(PyObject *const *args, Py_ssize_t n, PyObject *out, PyObject *name) {
  PyObject *module = PyImport_ImportModule("tapedeck.autograd.forward_ad");
  PyObject *tensors = PyTuple_New(n + 1);
  for (Py_ssize_t i = 0; tensors && i <= n; i++)
    PyTuple_SET_ITEM(tensors, i, Py_NewRef(i < n ? args[i] : out));
  PyObject *done =
      module && tensors ? PyObject_CallMethod(module, "refuse_out", "OO", name, tensors) : NULL;
  Py_XDECREF(tensors);
  Py_XDECREF(module);
  Py_XDECREF(done);
  return done != NULL;
}

static td_status
check(const char *name, PyObject *const *args, Py_ssize_t n, const td_tensor *out,
      td_error *error) {
  if (needs_history(args, n, out))
    return td_error_set(error, TD_AUTOGRAD,
                        "%s(): functions with out=... arguments don't support automatic "
                        "differentiation, but one of the arguments requires grad.",
                        name);
  td_status status = td_check_in_place(out, false, error);
  return status ? status : td_check_overlap(out, error);
}

static int
warn_of_other_sizes(const td_tensor *out, const td_tensor *result) {
  if (td_tensor_n_elements(out) == 0) return 0;
  char *from = td_tensor_shape_text(out), *to = td_tensor_shape_text(result);
  int failed = PyErr_WarnFormat(
      PyExc_UserWarning, 1,
      "An output with one or more elements was resized since it had shape %s, which does not match "
      "the required output shape %s. This behavior is deprecated, and in a future PyTorch release "
      "outputs will not be resized unless they have zero elements. You can explicitly reuse an out "
      "tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
      from, to);
  free(from);
  free(to);
  return failed;
}

static td_status
write_result(td_tensor *out, td_tensor *result, const char *name, td_error *error) {
  if (!td_op_can_cast(result->dtype, out->dtype))
    return td_error_set(error, TD_DTYPE,
                        "result type %s can't be cast to the desired output type %s",
                        td_op_scalar_type(result->dtype), td_op_scalar_type(out->dtype));
  if (!td_tensor_same_sizes(out, result)) {
    TD_LOCAL(other);
    TD_TRY(
        td_tensor_new_empty(out->dtype, out->device, result->n_dims, result->sizes, &other, error));
    td_tensor_set_data(out, other);
  }
  td_kernel_copy(out, result);
  td_tensor_bump(out, name);
  return TD_OK;
}

static PyObject *
give(out_function *self, PyObject *result, PyObject *out) {
  td_error error = {0};
  if (!tdpy_tensor_is(result))
    return PyErr_Format(PyExc_TypeError, "%U(): out= is for functions of one result", self->name);
  td_tensor *to = tdpy_tensor_of(out), *from = tdpy_tensor_of(result);
  if (!td_tensor_same_sizes(to, from) && warn_of_other_sizes(to, from)) return NULL;
  td_status status = write_result(to, from, "out=", &error);
  return tdpy_check(status, &error) ? Py_NewRef(out) : NULL;
}

/* Calls the function without the keyword at `at`. */
static PyObject *
call_without(out_function *self, PyObject *const *args, Py_ssize_t n, PyObject *names,
             Py_ssize_t at) {
  Py_ssize_t n_names = PyTuple_GET_SIZE(names);
  PyObject **left = PyMem_New(PyObject *, n + n_names);
  PyObject *left_names = left ? PyTuple_New(n_names - 1) : NULL, *result = NULL;
  Py_ssize_t n_left = 0;
  for (Py_ssize_t i = 0; left_names && i < n + n_names; i++)
    if (i != n + at) left[n_left++] = args[i];
  for (Py_ssize_t i = 0, j = 0; left_names && i < n_names; i++)
    if (i != at) PyTuple_SET_ITEM(left_names, j++, Py_NewRef(PyTuple_GET_ITEM(names, i)));
  if (left_names) result = PyObject_Vectorcall(self->function, left, (size_t)n, left_names);
  Py_XDECREF(left_names);
  PyMem_Free(left);
  return result;
}

static Py_ssize_t
find(PyObject *names, const char *name) {
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0) return i;
  return -1;
}

/* f(input=x, ...) is f(x, ...): the functions are methods, which know no name for their object. */
static PyObject *
call_with_first(out_function *self, PyObject *const *args, PyObject *names, Py_ssize_t at) {
  Py_ssize_t n_names = PyTuple_GET_SIZE(names), n = 0;
  PyObject **all = PyMem_New(PyObject *, n_names);
  PyObject *left = all ? PyTuple_New(n_names - 1) : NULL, *result = NULL;
  if (left) all[0] = args[at];
  for (Py_ssize_t i = 0; left && i < n_names; i++) {
    if (i == at) continue;
    PyTuple_SET_ITEM(left, n++, Py_NewRef(PyTuple_GET_ITEM(names, i)));
    all[n] = args[i];
  }
  if (left) result = PyObject_Vectorcall((PyObject *)self, all, 1, left);
  Py_XDECREF(left);
  PyMem_Free(all);
  return result;
}

static bool
takes_numbers(const char *name) {
  static const char *const names[] = {"add",          "sub",       "mul",         "div",
                                      "subtract",     "multiply",  "divide",      "true_divide",
                                      "floor_divide", "remainder", "bitwise_and", "bitwise_or",
                                      "bitwise_xor",  "xlogy"};
  for (size_t i = 0; i < TD_N_ELEMENTS(names); i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

/* A number as a tensor that can stand beside the other argument. */
static PyObject *
number_as_tensor(PyObject *number, PyObject *other) {
  td_tensor *like = NULL;
  if (!tdpy_tensor_is(other)) like = td_tensor_new_scalar(TD_INT64, TD_CPU, 0);
  td_tensor *tensor = tdpy_operand(number, like ? like : tdpy_tensor_of(other));
  td_tensor_unref(like);
  return tensor ? tdpy_tensor_wrap(tensor) : NULL;
}

static PyObject *
refuse_first(const char *name, PyObject *first) {
  return PyErr_Format(PyExc_TypeError, "%s(): argument 'input' (position 1) must be Tensor, not %s",
                      name, tdpy_type_name(first));
}

/* The first argument is no tensor. Few methods take a number there. */
static PyObject *
call_with_number(out_function *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
  const char *name = PyUnicode_AsUTF8(self->name);
  tdpy_number number;
  if (!tdpy_number_read(args[0], &number) || n < 2) return refuse_first(name, args[0]);
  if (strcmp(name, "pow") == 0) return PyNumber_Power(args[0], args[1], Py_None);
  PyObject *tensor = takes_numbers(name) ? number_as_tensor(args[0], args[1]) : NULL;
  if (!tensor) return refuse_first(name, args[0]);
  Py_ssize_t n_all = n + (names ? PyTuple_GET_SIZE(names) : 0);
  PyObject **all = PyMem_New(PyObject *, n_all);
  memcpy(all, args, (size_t)n_all * sizeof *all);
  all[0] = tensor;
  PyObject *result = PyObject_Vectorcall((PyObject *)self, all, (size_t)n, names);
  PyMem_Free(all);
  Py_DECREF(tensor);
  return result;
}

static bool
is_method(const out_function *self) {
  return Py_IS_TYPE(self->function, &PyMethodDescr_Type);
}

static Py_ssize_t
find_first(PyObject *names) {
  Py_ssize_t at = find(names, "input");
  if (at < 0) at = find(names, "self");
  return at < 0 ? find(names, "tensor") : at;
}

static PyObject *
call(PyObject *object, PyObject *const *args, size_t flags, PyObject *names) {
  out_function *self = (out_function *)object;
  Py_ssize_t at = find(names, "out"), n = PyVectorcall_NARGS(flags), first;
  if (n == 0 && (first = find_first(names)) >= 0) return call_with_first(self, args, names, first);
  if (is_method(self) && n > 0 && !tdpy_tensor_is(args[0]))
    return call_with_number(self, args, n, names);
  if (is_method(self) && n == 0)
    return PyErr_Format(PyExc_TypeError, "%U() missing 1 required positional arguments: \"input\"",
                        self->name);
  if (at < 0) return PyObject_Vectorcall(self->function, args, flags, names);
  PyObject *out = args[n + at];
  if (out == Py_None) return call_without(self, args, n, names, at);
  if (!tdpy_tensor_is(out))
    return PyErr_Format(PyExc_TypeError, "%U(): argument 'out' must be Tensor, not %s", self->name,
                        Py_TYPE(out)->tp_name);
  td_error error = {0};
  if (needs_history(args, n, tdpy_tensor_of(out)) && !has_no_tangent(args, n, out, self->name))
    return NULL;
  td_status status = check(PyUnicode_AsUTF8(self->name), args, n, tdpy_tensor_of(out), &error);
  if (!tdpy_check(status, &error)) return NULL;
  PyObject *result = call_without(self, args, n, names, at);
  PyObject *given = result ? give(self, result, out) : NULL;
  Py_XDECREF(result);
  return given;
}

static void
dealloc(PyObject *self) {
  Py_DECREF(((out_function *)self)->function);
  Py_DECREF(((out_function *)self)->name);
  Py_TYPE(self)->tp_free(self);
}

static PyObject *
repr(PyObject *self) {
  return PyUnicode_FromFormat("<function %U>", ((out_function *)self)->name);
}

static PyMemberDef members[] = {
    {"__name__", T_OBJECT, offsetof(out_function, name), READONLY, NULL},
    {"__qualname__", T_OBJECT, offsetof(out_function, name), READONLY, NULL},
    {NULL}};

static PyObject *
get_module(PyObject *self, void *unused) {
  return PyUnicode_FromString("tapedeck");
}

static PyGetSetDef getset[] = {{"__module__", get_module, NULL, NULL, NULL}, {NULL}};

/* A copy is the function itself, and a file has its name. */
static PyObject *
reduce(PyObject *self, PyObject *unused) {
  return Py_NewRef(((out_function *)self)->name);
}

static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, NULL}, {NULL}};

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck._C.function",
    .tp_basicsize = sizeof(out_function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(out_function, call),
    .tp_call = PyVectorcall_Call,
    .tp_doc = "A function of tensors, with out=.",
    .tp_dealloc = dealloc,
    .tp_repr = repr,
    .tp_members = members,
    .tp_getset = getset,
    .tp_methods = methods,
};

static PyObject *
with_out(PyObject *module, PyObject *args) {
  PyObject *name, *function;
  if (!PyArg_ParseTuple(args, "UO:with_out", &name, &function)) return NULL;
  out_function *self = (out_function *)type.tp_alloc(&type, 0);
  if (!self) return NULL;
  self->call = call;
  self->name = Py_NewRef(name);
  self->function = Py_NewRef(function);
  return (PyObject *)self;
}

static PyMethodDef functions[] = {
    {"with_out", with_out, METH_VARARGS, "The function, with a keyword out= besides its own."},
    {"in_place", tdpy_in_place, METH_VARARGS, "Writes function(alias) into the tensor."},
    {NULL}};

int
tdpy_out_add(PyObject *module) {
  return PyType_Ready(&type) || PyModule_AddFunctions(module, functions) ? -1 : 0;
}
