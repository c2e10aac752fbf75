/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/types.h"

#include "engine/torch/binding/errors.h"
#include "engine/torch/device/device.h"
#include "engine/torch/tensor/layout.h"

#include <stdlib.h>
#include <string.h>

typedef struct dtype_object {
  PyObject_HEAD td_dtype dtype;
} dtype_object;

/* Of a device that this program does not have, `absent` is the name, and `device` means nothing. */
typedef struct device_object {
  PyObject_HEAD td_device device;
  char absent[16];
} device_object;

static dtype_object *dtypes[TD_N_DTYPES];

static PyObject *
dtype_repr(PyObject *self) {
  return PyUnicode_FromString(td_dtype_name(((dtype_object *)self)->dtype));
}

static PyObject *
dtype_is_floating_point(PyObject *self, void *closure) {
  return PyBool_FromLong(td_dtype_is_floating(((dtype_object *)self)->dtype));
}

static PyObject *
dtype_is_complex(PyObject *self, void *closure) {
  return PyBool_FromLong(td_dtype_is_complex(((dtype_object *)self)->dtype));
}

static PyObject *
dtype_itemsize(PyObject *self, void *closure) {
  return PyLong_FromSize_t(td_dtype_size(((dtype_object *)self)->dtype));
}

static PyObject *
dtype_is_signed(PyObject *self, void *closure) {
  td_dtype dtype = ((dtype_object *)self)->dtype;
  return PyBool_FromLong(dtype != TD_BOOL && dtype != TD_UINT8);
}

static PyGetSetDef dtype_getset[] = {
    {"itemsize", dtype_itemsize, NULL, "bytes of an element", NULL},
    {"is_signed", dtype_is_signed, NULL, "whether it has numbers below zero", NULL},
    {"is_complex", dtype_is_complex, NULL, "whether it has imaginary parts", NULL},
    {"is_floating_point", dtype_is_floating_point, NULL, "whether it has fractions", NULL},
    {NULL}};

PyTypeObject tdpy_dtype_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.dtype",
    .tp_basicsize = sizeof(dtype_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_repr = dtype_repr,
    .tp_getset = dtype_getset,
};

PyObject *
tdpy_dtype_wrap(td_dtype dtype) {
  return Py_NewRef((PyObject *)dtypes[dtype]);
}

static bool
is_type_of_python(PyObject *object, td_dtype *dtype) {
  const struct {
    PyTypeObject *type;
    td_dtype dtype;
  } rows[] = {{&PyFloat_Type, TD_FLOAT64},
              {&PyLong_Type, TD_INT64},
              {&PyBool_Type, TD_BOOL},
              {&PyComplex_Type, TD_COMPLEX128}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (object != (PyObject *)rows[i].type) continue;
    *dtype = rows[i].dtype;
    return true;
  }
  return false;
}

int
tdpy_dtype_converter(PyObject *object, void *dtype) {
  if (object == Py_None || is_type_of_python(object, dtype)) return 1;
  if (Py_TYPE(object) != &tdpy_dtype_type) {
    PyErr_Format(PyExc_TypeError, "argument 'dtype' must be torch.dtype, not %s",
                 Py_TYPE(object)->tp_name);
    return 0;
  }
  *(td_dtype *)dtype = ((dtype_object *)object)->dtype;
  return 1;
}

static const char *
name_of(PyObject *self) {
  const device_object *object = (device_object *)self;
  return object->absent[0] ? object->absent : td_device_name(object->device);
}

/* -1: none */
static int
index_of(PyObject *self) {
  const device_object *object = (device_object *)self;
  if (!object->absent[0]) return object->device < 0 ? -1 : td_device_index(object->device);
  const char *colon = strchr(object->absent, ':');
  return colon ? atoi(colon + 1) : -1;
}

static PyObject *
device_index(PyObject *self, void *closure) {
  int index = index_of(self);
  if (index < 0) Py_RETURN_NONE;
  return PyLong_FromLong(index);
}

static PyObject *
device_kind(PyObject *self, void *closure) {
  const char *name = name_of(self);
  return PyUnicode_FromStringAndSize(name, (Py_ssize_t)strcspn(name, ":"));
}

static PyObject *
device_str(PyObject *self) {
  return PyUnicode_FromString(name_of(self));
}

static PyObject *
device_repr(PyObject *self) {
  int index = index_of(self);
  PyObject *kind = device_kind(self, NULL);
  if (!kind) return NULL;
  PyObject *text = index < 0 ? PyUnicode_FromFormat("device(type=%R)", kind)
                             : PyUnicode_FromFormat("device(type=%R, index=%d)", kind, index);
  Py_DECREF(kind);
  return text;
}

static PyTypeObject device_type;

static PyObject *
device_compare(PyObject *self, PyObject *other, int op) {
  if (Py_TYPE(other) != &device_type || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  bool equal = strcmp(name_of(self), name_of(other)) == 0;
  return PyBool_FromLong(equal == (op == Py_EQ));
}

static Py_hash_t
device_hash(PyObject *self) {
  const device_object *object = (device_object *)self;
  return object->device + 4 + object->absent[0]; /* -1 would mean an error */
}

/* Devices of PyTorch that this program may lack, and what moving a tensor there says. */
static const struct {
  const char *kind;
  PyObject **error;
  const char *text;
} absents[] = {
    {"cuda", &PyExc_AssertionError, "Torch not compiled with CUDA enabled"},
    {"xpu", &PyExc_AssertionError, "Torch not compiled with XPU enabled"},
    {"mps", &PyExc_RuntimeError, "PyTorch is not linked with support for mps devices"},
};

/* The row of a device that the program lacks as a kind, or -1. */
static int
absent_kind(const char *name) {
  size_t length = strcspn(name, ":");
  td_device unused;
  for (size_t i = 0; i < sizeof absents / sizeof *absents; i++)
    if (length == strlen(absents[i].kind) && strncmp(name, absents[i].kind, length) == 0)
      return td_device_find(absents[i].kind, &unused, NULL) ? (int)i : -1;
  return -1;
}

static bool
is_number(const char *text) {
  return text[0] && strlen(text) < 5 && text[strspn(text, "0123456789")] == '\0';
}

/* The object of a device that is not there; NULL without an exception if the name is of none. */
static PyObject *
absent_device(const char *name) {
  const char *colon = strchr(name, ':');
  if (absent_kind(name) < 0 || (colon && !is_number(colon + 1))) return NULL;
  device_object *self = (device_object *)tdpy_device_wrap(TD_CPU);
  if (self) snprintf(self->absent, sizeof self->absent, "%s", name);
  return (PyObject *)self;
}

static int
refuse_absent(const char *name) {
  int i = absent_kind(name);
  if (i >= 0) PyErr_SetString(*absents[i].error, absents[i].text);
  return i < 0;
}

static PyObject *
device_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"type", "index", NULL};
  const char *kind;
  int index = -1;
  if (PyTuple_GET_SIZE(args) == 1 && Py_TYPE(PyTuple_GET_ITEM(args, 0)) == type)
    return Py_NewRef(PyTuple_GET_ITEM(args, 0));
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|i:device", names, &kind, &index)) return NULL;
  PyObject *name = index < 0 || strcmp(kind, "cpu") == 0
                       ? PyUnicode_FromString(kind)
                       : PyUnicode_FromFormat("%s:%d", kind, index);
  td_device device = TD_CPU;
  PyObject *absent = name ? absent_device(PyUnicode_AsUTF8(name)) : NULL;
  int found = name && !absent && tdpy_device_converter(name, &device);
  Py_XDECREF(name);
  return found ? tdpy_device_wrap(device) : absent;
}

static PyGetSetDef device_getset[] = {
    {"type", device_kind, NULL, "\"cpu\", \"sim\" or \"meta\"", NULL},
    {"index", device_index, NULL, "its number, or None", NULL},
    {NULL}};

static PyTypeObject device_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.device",
    .tp_basicsize = sizeof(device_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc =
        "device(type, index=None)\n--\n\nWhere a tensor lives: \"cpu\", or \"sim:0\" and so on.",
    .tp_new = device_new,
    .tp_repr = device_repr,
    .tp_str = device_str,
    .tp_hash = device_hash,
    .tp_richcompare = device_compare,
    .tp_getset = device_getset,
};

PyObject *
tdpy_device_wrap(td_device device) {
  device_object *self = PyObject_New(device_object, &device_type);
  if (!self) return NULL;
  self->device = device;
  self->absent[0] = '\0';
  return (PyObject *)self;
}

int
tdpy_device_converter(PyObject *object, void *device) {
  if (object == Py_None) return 1;
  if (Py_TYPE(object) == &device_type) {
    *(td_device *)device = ((device_object *)object)->device;
    const char *absent = ((device_object *)object)->absent;
    return !absent[0] || refuse_absent(absent);
  }
  const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
  if (!name) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "argument 'device' must be torch.device or str, not %s",
                   Py_TYPE(object)->tp_name);
    return 0;
  }
  td_error error = {0};
  return refuse_absent(name) && tdpy_check(td_device_find(name, device, &error), &error);
}

static PyObject *
size_repr(PyObject *self) {
  PyObject *list = PySequence_List(self);
  PyObject *text = list ? PyUnicode_FromFormat("torch.Size(%R)", list) : NULL;
  Py_XDECREF(list);
  return text;
}

static PyObject *
size_numel(PyObject *self, PyObject *unused) {
  long long n = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++)
    n *= PyLong_AsLongLong(PyTuple_GET_ITEM(self, i));
  return PyErr_Occurred() ? NULL : PyLong_FromLongLong(n);
}

static PyTypeObject size_type;

/* A slice of a size is a size. */
static PyObject *
size_subscript(PyObject *self, PyObject *index) {
  PyObject *item = PyTuple_Type.tp_as_mapping->mp_subscript(self, index);
  if (!item || !PyTuple_Check(item)) return item;
  PyObject *size = PyObject_CallFunctionObjArgs((PyObject *)&size_type, item, NULL);
  Py_DECREF(item);
  return size;
}

static PyMappingMethods size_mapping = {.mp_subscript = size_subscript};

static PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "The number of elements of a tensor of this size."}, {NULL}};

static PyTypeObject size_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.Size",
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_repr = size_repr,
    .tp_as_mapping = &size_mapping,
    .tp_methods = size_methods,
};

PyObject *
tdpy_size_wrap(int n_dims, const int64_t *sizes) {
  PyObject *size = size_type.tp_alloc(&size_type, n_dims);
  for (int i = 0; size && i < n_dims; i++) {
    PyObject *item = PyLong_FromLongLong(sizes[i]);
    if (!item)
      Py_CLEAR(size);
    else
      PyTuple_SET_ITEM(size, i, item);
  }
  return size;
}

typedef struct layout_object {
  PyObject_HEAD const char *name;
} layout_object;

static PyObject *
layout_repr(PyObject *self) {
  return PyUnicode_FromString(((layout_object *)self)->name);
}

static PyTypeObject layout_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.layout",
    .tp_basicsize = sizeof(layout_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_repr = layout_repr,
};

static const char *const layout_names[] = {"torch.strided", "torch.sparse_coo"};
static layout_object *layouts[2];

PyObject *
tdpy_layout_wrap(bool sparse) {
  return Py_NewRef((PyObject *)layouts[sparse]);
}

static int
add_layouts(PyObject *module) {
  for (int i = 0; i < 2; i++) {
    layouts[i] = PyObject_New(layout_object, &layout_type);
    if (!layouts[i]) return -1;
    layouts[i]->name = layout_names[i];
    if (PyModule_AddObjectRef(module, strchr(layout_names[i], '.') + 1, (PyObject *)layouts[i]))
      return -1;
  }
  return 0;
}

typedef struct format_object {
  PyObject_HEAD td_memory_format format;
} format_object;

static PyObject *
format_repr(PyObject *self) {
  return PyUnicode_FromFormat("torch.%s", td_memory_format_name(((format_object *)self)->format));
}

static PyTypeObject format_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.memory_format",
    .tp_basicsize = sizeof(format_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_repr = format_repr,
};

int
tdpy_format_converter(PyObject *object, void *format) {
  if (Py_IS_TYPE(object, &format_type)) {
    *(td_memory_format *)format = ((format_object *)object)->format;
    return 1;
  }
  PyErr_Format(PyExc_TypeError, "argument 'memory_format' must be torch.memory_format, not %s",
               Py_TYPE(object)->tp_name);
  return 0;
}

static int
add_formats(PyObject *module) {
  if (PyType_Ready(&format_type)) return -1;
  for (int i = 0; i < TD_N_FORMATS; i++) {
    format_object *self = PyObject_New(format_object, &format_type);
    if (!self) return -1;
    self->format = (td_memory_format)i;
    if (PyModule_AddObject(module, td_memory_format_name(self->format), (PyObject *)self))
      return -1;
  }
  return 0;
}

static int
add_dtypes(PyObject *module) {
  for (int i = 0; i < TD_N_DTYPES; i++) {
    dtypes[i] = PyObject_New(dtype_object, &tdpy_dtype_type);
    if (!dtypes[i]) return -1;
    dtypes[i]->dtype = (td_dtype)i;
    const char *name = td_dtype_short_name((td_dtype)i);
    if (PyModule_AddObjectRef(module, name, (PyObject *)dtypes[i])) return -1;
  }
  return 0;
}

int
tdpy_types_add(PyObject *module) {
  size_type.tp_base = &PyTuple_Type;
  if (PyModule_AddType(module, &tdpy_dtype_type) || PyModule_AddType(module, &device_type) ||
      PyModule_AddType(module, &size_type))
    return -1;
  if (PyType_Ready(&layout_type) || add_layouts(module) || add_formats(module)) return -1;
  return add_dtypes(module);
}
