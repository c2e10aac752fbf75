/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/python/types.h"

#include "engine/device/device.h"
#include "engine/python/errors.h"

#include <string.h>

typedef struct dtype_object {
  PyObject_HEAD td_dtype dtype;
} dtype_object;

typedef struct device_object {
  PyObject_HEAD td_device device;
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

static PyGetSetDef dtype_getset[] = {
    {"is_complex", dtype_is_complex, NULL, "whether it has imaginary parts", NULL},
    {"is_floating_point", dtype_is_floating_point, NULL, "whether it has fractions", NULL},
    {NULL}};

PyTypeObject tdpy_dtype_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck.dtype",
    .tp_basicsize = sizeof(dtype_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_repr = dtype_repr,
    .tp_getset = dtype_getset,
};

PyObject *
tdpy_dtype_wrap(td_dtype dtype) {
  return Py_NewRef((PyObject *)dtypes[dtype]);
}

int
tdpy_dtype_converter(PyObject *object, void *dtype) {
  if (object == Py_None) return 1;
  if (Py_TYPE(object) != &tdpy_dtype_type) {
    PyErr_Format(PyExc_TypeError, "argument 'dtype' must be torch.dtype, not %s",
                 Py_TYPE(object)->tp_name);
    return 0;
  }
  *(td_dtype *)dtype = ((dtype_object *)object)->dtype;
  return 1;
}

static PyObject *
device_index(PyObject *self, void *closure) {
  td_device device = ((device_object *)self)->device;
  if (device < 0) Py_RETURN_NONE;
  return PyLong_FromLong(td_device_index(device));
}

static PyObject *
device_kind(PyObject *self, void *closure) {
  const char *name = td_device_name(((device_object *)self)->device);
  return PyUnicode_FromStringAndSize(name, (Py_ssize_t)strcspn(name, ":"));
}

static PyObject *
device_str(PyObject *self) {
  return PyUnicode_FromString(td_device_name(((device_object *)self)->device));
}

static PyObject *
device_repr(PyObject *self) {
  td_device device = ((device_object *)self)->device;
  PyObject *kind = device_kind(self, NULL);
  if (!kind) return NULL;
  PyObject *text =
      device < 0 ? PyUnicode_FromFormat("device(type=%R)", kind)
                 : PyUnicode_FromFormat("device(type=%R, index=%d)", kind, td_device_index(device));
  Py_DECREF(kind);
  return text;
}

static PyTypeObject device_type;

static PyObject *
device_compare(PyObject *self, PyObject *other, int op) {
  if (Py_TYPE(other) != &device_type || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  bool equal = ((device_object *)self)->device == ((device_object *)other)->device;
  return PyBool_FromLong(equal == (op == Py_EQ));
}

static Py_hash_t
device_hash(PyObject *self) {
  return ((device_object *)self)->device + 4; /* -1 would mean an error */
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
  int found = name && tdpy_device_converter(name, &device);
  Py_XDECREF(name);
  return found ? tdpy_device_wrap(device) : NULL;
}

static PyGetSetDef device_getset[] = {
    {"type", device_kind, NULL, "\"cpu\", \"sim\" or \"meta\"", NULL},
    {"index", device_index, NULL, "its number, or None", NULL},
    {NULL}};

static PyTypeObject device_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck.device",
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
  if (self) self->device = device;
  return (PyObject *)self;
}

int
tdpy_device_converter(PyObject *object, void *device) {
  if (object == Py_None) return 1;
  if (Py_TYPE(object) == &device_type) {
    *(td_device *)device = ((device_object *)object)->device;
    return 1;
  }
  const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
  if (!name) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "argument 'device' must be torch.device or str, not %s",
                   Py_TYPE(object)->tp_name);
    return 0;
  }
  td_error error = {0};
  return tdpy_check(td_device_find(name, device, &error), &error);
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
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck.Size",
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
  if (PyType_Ready(&layout_type) || add_layouts(module)) return -1;
  return add_dtypes(module);
}
