/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/bind.h"

#include "engine/base/alloc.h"
#include "engine/torch/binding/generator.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/types.h"

#include <string.h>

/* Copies up to the next of the delimiters. The text of a signature always fits. */
static const char *
take_word(const char *text, const char *delimiters, char *word, size_t size) {
  size_t length = strcspn(text, delimiters);
  snprintf(word, size, "%.*s", (int)length, text);
  return text + length;
}

static void
parse(tdpy_signature *signature) {
  const char *text = take_word(signature->text, " ", signature->name, sizeof signature->name);
  bool keywords = false;
  while (*text == ' ') {
    text++;
    if (*text == '*') {
      keywords = true;
      text++;
    }
    int i = signature->n++;
    text =
        take_word(text, ":", signature->parameters[i].name, sizeof signature->parameters[i].name);
    signature->parameters[i].type = text[1];
    signature->parameters[i].optional = text[2] == '=';
    text += signature->parameters[i].optional ? 3 : 2;
    if (!keywords) signature->n_positional++;
  }
  signature->parsed = true;
}

static const char *
type_words(char type) {
  switch (type) {
  case 'T':
  case 'O':
    return "Tensor";
  case 'N':
    return "Number";
  case 'I':
    return "int";
  case 'B':
    return "bool";
  case 'S':
  case 'V':
    return "tuple of ints";
  case 'L':
    return "tuple of Tensors";
  case 'D':
    return "torch.dtype";
  case 'R':
    return "torch.Generator";
  default:
    return "str";
  }
}

/* position counts from 1; 0: given by name. */
static bool
refuse(const tdpy_signature *signature, int i, int position, PyObject *object) {
  char where[32] = "";
  if (position) snprintf(where, sizeof where, " (position %d)", position);
  if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))
    PyErr_Format(PyExc_TypeError, "%s(): argument '%s'%s must be %s, not %s", signature->name,
                 signature->parameters[i].name, where, type_words(signature->parameters[i].type),
                 tdpy_type_name(object));
  return false;
}

static bool
read_list(PyObject *object, tdpy_value *value) {
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  value->list = TD_NEW_N(td_tensor *, n + 1);
  value->n_list = (uint32_t)n;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *item = PySequence_Fast_GET_ITEM(object, i);
    if (!tdpy_tensor_is(item)) return false;
    value->list[i] = tdpy_tensor_of(item);
  }
  return true;
}

static bool
read_integer(PyObject *object, int64_t *integer) {
  if (PyBool_Check(object) || PyFloat_Check(object) || !PyIndex_Check(object)) return false;
  PyObject *number = PyNumber_Index(object);
  bool fine = number && tdpy_int_converter(number, integer);
  Py_XDECREF(number);
  return fine;
}

static bool
read_word(PyObject *object, tdpy_value *value) {
  value->word = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
  return value->word != NULL;
}

static bool
read_number(PyObject *object, tdpy_value *value) {
  if (!tdpy_tensor_is(object))
    return tdpy_number_read(object, &value->number) && !value->number.is_complex;
  const td_tensor *tensor = tdpy_tensor_of(object);
  if (tensor->n_dims > 0) return false;
  value->number = (tdpy_number){.value = td_tensor_item(tensor),
                                .is_integer = !td_dtype_is_differentiable(tensor->dtype)};
  return true;
}

static bool
read_value(char type, PyObject *object, const td_tensor *first, tdpy_value *value) {
  switch (type) {
  case 'T':
    value->tensor = tdpy_tensor_is(object) ? tdpy_tensor_of(object) : NULL;
    return value->tensor != NULL;
  case 'O':
    value->object = object;
    value->tensor = first                    ? tdpy_operand(object, first)
                    : tdpy_tensor_is(object) ? td_tensor_ref(tdpy_tensor_of(object))
                                             : NULL;
    return value->tensor != NULL;
  case 'N':
    return read_number(object, value);
  case 'I':
    return read_integer(object, &value->integer);
  case 'B':
    value->integer = PyObject_IsTrue(object);
    return PyBool_Check(object);
  case 'S':
  case 'V':
    return !PyFloat_Check(object) && !PyUnicode_Check(object) &&
           tdpy_sizes_converter(object, &value->sizes);
  case 'L':
    return read_list(object, value);
  case 'D':
    return object != Py_None && tdpy_dtype_converter(object, &value->dtype);
  case 'W':
    return read_word(object, value);
  case 'R':
    return tdpy_generator_converter(object, &value->generator);
  default:
    return true;
  }
}

static bool
put(const tdpy_signature *signature, int i, int position, PyObject *object, tdpy_value *values) {
  char type = signature->parameters[i].type;
  values[i].object = object;
  if (object == Py_None && signature->parameters[i].optional) return true;
  values[i].given = true;
  const td_tensor *first = i > 0 ? values[0].tensor : NULL;
  return read_value(type, object, first, &values[i]) || refuse(signature, i, position, object);
}

static bool
put_all_rest(const tdpy_signature *signature, int i, PyObject *args, Py_ssize_t from,
             tdpy_value *values) {
  PyObject *rest = PyTuple_GetSlice(args, from, PyTuple_GET_SIZE(args));
  bool fine = rest && put(signature, i, (int)from + 1, rest, values);
  Py_XDECREF(rest);
  return fine;
}

static bool
put_positional(const tdpy_signature *signature, int first, PyObject *args, tdpy_value *values) {
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  for (Py_ssize_t at = 0; at < n; at++) {
    int i = first + (int)at;
    if (i >= signature->n_positional) {
      PyErr_Format(PyExc_TypeError, "%s() takes %d positional argument%s but %zd were given",
                   signature->name, signature->n_positional,
                   signature->n_positional == 1 ? "" : "s", n + first);
      return false;
    }
    PyObject *object = PyTuple_GET_ITEM(args, at);
    bool many = signature->parameters[i].type == 'V' && n - at > 1 && PyIndex_Check(object);
    if (many) return put_all_rest(signature, i, args, at, values);
    if (!put(signature, i, (int)at + 1, object, values)) return false;
  }
  return true;
}

static int
find(const tdpy_signature *signature, const char *name) {
  for (int i = 0; i < signature->n; i++)
    if (strcmp(signature->parameters[i].name, name) == 0) return i;
  /* PyTorch knows these by more than one name. */
  if (strcmp(name, "input") == 0) return find(signature, "self");
  if (strcmp(name, "keepdims") == 0) return find(signature, "keepdim");
  return strcmp(name, "axis") == 0 ? find(signature, "dim") : -1;
}

static bool
put_keywords(const tdpy_signature *signature, PyObject *kwargs, tdpy_value *values) {
  PyObject *key, *object;
  Py_ssize_t position = 0;
  while (kwargs && PyDict_Next(kwargs, &position, &key, &object)) {
    const char *name = PyUnicode_AsUTF8(key);
    int i = name ? find(signature, name) : -1;
    if (i < 0) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", signature->name,
                   key);
      return false;
    }
    if (values[i].object) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", signature->name,
                   name);
      return false;
    }
    if (!put(signature, i, 0, object, values)) return false;
  }
  return true;
}

static bool
check_missing(const tdpy_signature *signature, const tdpy_value *values) {
  char names[256] = "";
  int n = 0;
  for (int i = 0; i < signature->n; i++) {
    if (signature->parameters[i].optional || values[i].object) continue;
    size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s\"%s\"", n++ ? ", " : "",
             signature->parameters[i].name);
  }
  if (n)
    PyErr_Format(PyExc_TypeError, "%s() missing %d required positional arguments: %s",
                 signature->name, n, names);
  return n == 0;
}

bool
tdpy_bind(tdpy_signature *signature, PyObject *self, PyObject *args, PyObject *kwargs,
          tdpy_value *values) {
  if (!signature->parsed) parse(signature);
  memset(values, 0, (size_t)signature->n * sizeof *values);
  int first = self ? 1 : 0;
  bool fine = (!self || put(signature, 0, 0, self, values)) &&
              put_positional(signature, first, args, values) &&
              put_keywords(signature, kwargs, values) && check_missing(signature, values);
  if (!fine) tdpy_values_clear(signature, values);
  return fine;
}

void
tdpy_values_clear(const tdpy_signature *signature, tdpy_value *values) {
  for (int i = 0; i < signature->n; i++) {
    if (signature->parameters[i].type == 'O') td_tensor_unref(values[i].tensor);
    free(values[i].list);
  }
}
