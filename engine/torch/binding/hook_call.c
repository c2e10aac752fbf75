/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arguments of a Python hook and the results that it may return: PyTorch's rules and texts.
 * Engine threads take the GIL for it. */
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/hook.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/binding/tensor_object.h"

/* The name of a hook in texts. A new reference. */
static PyObject *
hook_name(PyObject *callable) {
  PyObject *name = PyObject_GetAttrString(callable, "__name__");
  if (name && PyUnicode_Check(name)) return name;
  Py_XDECREF(name);
  PyErr_Clear();
  return PyUnicode_FromString("<unknown>");
}

/* Raises RuntimeError "hook 'name' ..."; returns false. */
static bool
complain(PyObject *callable, const char *format, ...) {
  va_list args;
  va_start(args, format);
  PyObject *name = hook_name(callable), *text = PyUnicode_FromFormatV(format, args);
  va_end(args);
  if (name && text) PyErr_Format(PyExc_RuntimeError, "hook '%U' %U", name, text);
  Py_XDECREF(name);
  Py_XDECREF(text);
  return false;
}

/* PyTorch's texts name its own types without their module. */
static const char *
type_name(PyObject *object) {
  return Py_IS_TYPE(object, &tdpy_tensor_type) ? "Tensor" : Py_TYPE(object)->tp_name;
}

/* Whether `result` may replace `original`. None always may; nothing may replace None. */
static bool
fits(PyObject *callable, PyObject *original, PyObject *result) {
  if (result == Py_None) return true;
  if (original == Py_None) {
    PyErr_SetString(PyExc_RuntimeError, "can't replace a None gradient with a non-None value");
    return false;
  }
  if (!tdpy_tensor_is(result)) {
    PyErr_Format(PyExc_TypeError, "expected Variable, but hook returned '%s'", type_name(result));
    return false;
  }
  const td_tensor *before = tdpy_tensor_of(original), *after = tdpy_tensor_of(result);
  if (before->dtype != after->dtype || before->device != after->device)
    return complain(callable, "has changed the type of value (was torch.%s got torch.%s)",
                    td_dtype_tensor_name(before->dtype), td_dtype_tensor_name(after->dtype));
  if (!td_tensor_same_sizes(before, after))
    return complain(callable, "has changed the size of value");
  return true;
}

static bool
all_fit(PyObject *callable, PyObject *originals, PyObject *results) {
  if (!PyTuple_Check(results)) {
    PyErr_Format(PyExc_TypeError, "expected tuple, but hook returned '%s'", type_name(results));
    return false;
  }
  Py_ssize_t n = PyTuple_GET_SIZE(originals), n_results = PyTuple_GET_SIZE(results);
  if (n != n_results)
    return complain(callable,
                    "has returned an incorrect number of values (got %zd, but expected %zd)",
                    n_results, n);
  for (Py_ssize_t i = 0; i < n; i++)
    if (!fits(callable, PyTuple_GET_ITEM(originals, i), PyTuple_GET_ITEM(results, i))) return false;
  return true;
}

static void
replace(td_tensor **gradient, PyObject *result) {
  td_tensor *old = *gradient;
  *gradient = result == Py_None ? NULL : td_tensor_ref(tdpy_tensor_of(result));
  td_tensor_unref(old);
}

static bool
is_of_tensor(const td_hook *hook) {
  return 1u << hook->kind & (TD_HOOKS_OF_TENSORS | TD_HOOKS(post_accumulate_grad));
}

/* A tensor's hook gets its gradient. A hook after accumulation gets the leaf. A node's hook gets
 * tuples. */
static PyObject *
call_arguments(const td_hook *hook, const td_hook_call *call) {
  PyObject *first = is_of_tensor(hook) ? tdpy_tensor_wrap(td_tensor_ref(call->gradients[0]))
                                       : tdpy_tensors_wrap(call->gradients, call->n);
  if (!first || hook->kind != TD_hook_kind_post) return first ? Py_BuildValue("(N)", first) : NULL;
  PyObject *inputs = tdpy_tensors_wrap(call->inputs, call->n_inputs);
  if (!inputs) Py_DECREF(first);
  return inputs ? Py_BuildValue("(NN)", first, inputs) : NULL;
}

static bool
take_result(const td_hook *hook, const td_hook_call *call, PyObject *given, PyObject *result) {
  PyObject *callable = ((const tdpy_hook *)hook)->callable;
  if (result == Py_None || result == given) return true;
  if (is_of_tensor(hook)) {
    if (!fits(callable, given, result)) return false;
    if (hook->kind == TD_hook_kind_post_accumulate_grad) {
      PyErr_SetString(PyExc_RuntimeError, "Tensor post accumulate grad hooks should return None.");
      return false;
    }
    replace(&call->gradients[0], result);
    return true;
  }
  if (!all_fit(callable, given, result)) return false;
  for (uint32_t i = 0; i < call->n; i++)
    replace(&call->gradients[i], PyTuple_GET_ITEM(result, i));
  return true;
}

td_status
tdpy_hook_call(td_hook *hook, const td_hook_call *call, td_error *error) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *arguments = call_arguments(hook, call);
  PyObject *result =
      arguments ? PyObject_Call(((tdpy_hook *)hook)->callable, arguments, NULL) : NULL;
  bool fine = result && take_result(hook, call, PyTuple_GET_ITEM(arguments, 0), result);
  Py_XDECREF(result);
  Py_XDECREF(arguments);
  td_status status = fine ? TD_OK : tdpy_fetch(error);
  PyGILState_Release(gil);
  return status;
}
