/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/out.h"

#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/inplace.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/graph/in_place.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/graph/views.h"
#include "engine/torch/ops/shape/inplace.h"
#include "engine/torch/tensor/factories.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

/* Of a call: n by place, then those of the names. */
typedef struct arguments {
  PyObject *const *values; /* (borrowed) */
  Py_ssize_t n;
  PyObject *names; /* (borrowed) a tuple, or NULL */
} arguments;

typedef struct out_function {
  PyObject_HEAD vectorcallfunc call;
  PyObject *function; /* (owned reference) what computes the result */
  PyObject *name;     /* (owned reference) */
} out_function;

static Py_ssize_t
n_names(const arguments *given) {
  return given->names ? PyTuple_GET_SIZE(given->names) : 0;
}

static Py_ssize_t
n_values(const arguments *given) {
  return given->n + n_names(given);
}

static bool
needs_history(const arguments *given, const td_tensor *out) {
  if (!td_grad_mode() || td_inference_mode()) return false;
  for (Py_ssize_t i = 0; i < n_values(given); i++)
    if (tdpy_tensor_is(given->values[i]) && td_requires_grad(tdpy_tensor_of(given->values[i])))
      return true;
  return td_requires_grad(out);
}

/* Forward mode has an error of its own. Returns false if it raised it. */
static bool
has_no_tangent(const arguments *given, PyObject *out, PyObject *name) {
  PyObject *module = PyImport_ImportModule("torch.autograd.forward_ad");
  Py_ssize_t n = n_values(given);
  PyObject *tensors = PyTuple_New(n + 1);
  for (Py_ssize_t i = 0; tensors && i <= n; i++)
    PyTuple_SET_ITEM(tensors, i, Py_NewRef(i < n ? given->values[i] : out));
  PyObject *done =
      module && tensors ? PyObject_CallMethod(module, "refuse_out", "OO", name, tensors) : NULL;
  Py_XDECREF(tensors);
  Py_XDECREF(module);
  Py_XDECREF(done);
  return done != NULL;
}

/* Whether the function may write into out; else raises. */
static bool
may_write(const arguments *given, PyObject *object, PyObject *name) {
  td_error error = {0};
  td_tensor *out = tdpy_tensor_of(object);
  td_status status = TD_OK;
  if (needs_history(given, out)) {
    if (!has_no_tangent(given, object, name)) return false;
    status = td_error_set(&error, TD_AUTOGRAD,
                          "%s(): functions with out=... arguments don't support automatic "
                          "differentiation, but one of the arguments requires grad.",
                          PyUnicode_AsUTF8(name));
  }
  if (!status) status = td_check_in_place(out, false, &error);
  if (!status) status = td_check_overlap(out, &error);
  return tdpy_check(status, &error);
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

/* The place of the first of these names among the keywords, or -1. */
static Py_ssize_t
find(const arguments *given, const char *const *names, size_t n) {
  for (size_t which = 0; which < n; which++)
    for (Py_ssize_t i = 0; i < n_names(given); i++)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(given->names, i), names[which]) == 0)
        return i;
  return -1;
}
#define FIND(given, ...)                                                                           \
  find(given, (const char *const[]){__VA_ARGS__},                                                  \
       TD_N_ELEMENTS(((const char *const[]){__VA_ARGS__})))

typedef PyObject *(*caller)(out_function *self, const arguments *given);

/* Calls without the keyword at `at`, or with its value as the first argument. */
static PyObject *
call_without(out_function *self, const arguments *given, Py_ssize_t at, bool is_first,
             caller call) {
  PyObject **values = PyMem_New(PyObject *, n_values(given)), *result = NULL;
  PyObject *names = values ? PyTuple_New(n_names(given) - 1) : NULL;
  Py_ssize_t n = 0, n_left = 0;
  if (names && is_first) values[n++] = given->values[given->n + at];
  for (Py_ssize_t i = 0; names && i < n_values(given); i++)
    if (i != given->n + at) values[n++] = given->values[i];
  for (Py_ssize_t i = 0; names && i < n_names(given); i++)
    if (i != at) PyTuple_SET_ITEM(names, n_left++, Py_NewRef(PyTuple_GET_ITEM(given->names, i)));
  if (names) result = call(self, &(arguments){values, given->n + is_first, names});
  Py_XDECREF(names);
  PyMem_Free(values);
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

static PyObject *compute(out_function *self, const arguments *given);

/* The first argument is no tensor. Few methods take a number there. */
static PyObject *
compute_with_number(out_function *self, const arguments *given) {
  const char *name = PyUnicode_AsUTF8(self->name);
  PyObject *first = given->values[0];
  Py_ssize_t n = n_values(given), at = FIND(given, "other", "exponent");
  PyObject *other = given->n > 1 ? given->values[1] : at >= 0 ? given->values[given->n + at] : NULL;
  tdpy_number number;
  if (!other || !tdpy_number_read(first, &number)) return refuse_first(name, first);
  if (strcmp(name, "pow") == 0 && n == 2 && tdpy_tensor_is(other))
    return PyNumber_Power(first, other, Py_None);
  PyObject *tensor = takes_numbers(name) ? number_as_tensor(first, other) : NULL;
  if (!tensor) return PyErr_Occurred() ? NULL : refuse_first(name, first);
  PyObject **all = PyMem_New(PyObject *, n);
  memcpy(all, given->values, (size_t)n * sizeof *all);
  all[0] = tensor;
  PyObject *result = compute(self, &(arguments){all, given->n, given->names});
  PyMem_Free(all);
  Py_DECREF(tensor);
  return result;
}

/* f(input=x, ...) is f(x, ...): the functions are methods, which know no name for their object. */
static PyObject *
compute(out_function *self, const arguments *given) {
  bool is_method = Py_IS_TYPE(self->function, &PyMethodDescr_Type);
  Py_ssize_t first = given->n == 0 ? FIND(given, "input", "self", "tensor") : -1;
  if (first >= 0) return call_without(self, given, first, true, compute);
  if (is_method && given->n == 0)
    return PyErr_Format(PyExc_TypeError, "%U() missing 1 required positional arguments: \"input\"",
                        self->name);
  if (is_method && !tdpy_tensor_is(given->values[0])) return compute_with_number(self, given);
  return PyObject_Vectorcall(self->function, given->values, (size_t)given->n, given->names);
}

static PyObject *
call(PyObject *object, PyObject *const *values, size_t flags, PyObject *names) {
  out_function *self = (out_function *)object;
  arguments given = {values, PyVectorcall_NARGS(flags), names};
  Py_ssize_t at = FIND(&given, "out");
  if (at < 0) return compute(self, &given);
  PyObject *out = values[given.n + at];
  if (out == Py_None) return call_without(self, &given, at, false, compute);
  if (!tdpy_tensor_is(out))
    return PyErr_Format(PyExc_TypeError, "%U(): argument 'out' must be Tensor, not %s", self->name,
                        Py_TYPE(out)->tp_name);
  if (!may_write(&given, out, self->name)) return NULL;
  PyObject *result = call_without(self, &given, at, false, compute);
  PyObject *written = result ? give(self, result, out) : NULL;
  Py_XDECREF(result);
  return written;
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
  return PyUnicode_FromString("torch");
}

static PyGetSetDef getset[] = {{"__module__", get_module, NULL, NULL, NULL}, {NULL}};

/* A copy is the function itself, and a file has its name. */
static PyObject *
reduce(PyObject *self, PyObject *unused) {
  return Py_NewRef(((out_function *)self)->name);
}

static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, NULL}, {NULL}};

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch._C.function",
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
