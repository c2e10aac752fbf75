/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/storage_object.h"

#include "engine/base/alloc.h"
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/stream.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/types.h"

#include <string.h>

typedef struct storage_object {
  PyObject_HEAD td_storage *storage; /* (owned reference) */
  td_device device;
} storage_object;

/* A Python object whose memory is a storage. */
typedef struct lender {
  td_lender base;
  Py_buffer view; /* (owned) */
} lender;

static void
give_back(td_lender *base) {
  lender *self = (lender *)base;
  if (Py_IsInitialized()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(&self->view);
    PyGILState_Release(gil);
  }
  free(self);
}

static PyTypeObject storage_type;

/* Takes the storage. */
static PyObject *
storage_wrap(td_storage *storage, td_device device) {
  if (!storage) return PyErr_NoMemory();
  storage_object *self = PyObject_New(storage_object, &storage_type);
  if (!self) {
    td_storage_unref(storage);
    return NULL;
  }
  self->storage = storage;
  self->device = device;
  return (PyObject *)self;
}

static td_storage *
storage_of(PyObject *self) {
  return ((storage_object *)self)->storage;
}

PyObject *
tdpy_tensor_untyped_storage(PyObject *self, PyObject *unused) {
  td_tensor *tensor = tdpy_tensor_of(self);
  if (tensor->sparse)
    return PyErr_Format(PyExc_NotImplementedError, "Cannot access storage of SparseTensorImpl");
  if (!tdpy_tensor_read(tensor)) return NULL;
  td_refcount_inc(&tensor->storage->refs);
  return storage_wrap(tensor->storage, tensor->device);
}

PyObject *
tdpy_tensor_storage_offset(PyObject *self, PyObject *unused) {
  return PyLong_FromLongLong(tdpy_tensor_of(self)->offset);
}

PyObject *
tdpy_tensor_element_size(PyObject *self, PyObject *unused) {
  return PyLong_FromSize_t(td_dtype_size(tdpy_tensor_of(self)->dtype));
}

static PyObject *
storage_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  Py_ssize_t n = 0;
  if (!PyArg_ParseTuple(args, "|n:UntypedStorage", &n)) return NULL;
  if (n < 0)
    return PyErr_Format(PyExc_RuntimeError, "Storage size must be non-negative, got: %zd", n);
  td_storage *storage = td_storage_new_host((size_t)n);
  if (storage) memset(storage->data, 0, (size_t)n);
  return storage_wrap(storage, TD_CPU);
}

static void
storage_dealloc(PyObject *self) {
  td_storage_unref(storage_of(self));
  PyObject_Free(self);
}

/* From the first byte to the last one; -1 if a stride leads backwards. */
static Py_ssize_t
extent_of(const Py_buffer *view) {
  Py_ssize_t last = view->itemsize;
  for (int i = 0; i < view->ndim; i++) {
    if (view->strides[i] < 0) return -1;
    last += (view->shape[i] - 1) * view->strides[i];
  }
  return view->len ? last : 0;
}

static PyObject *
storage_from_buffer(PyObject *type, PyObject *object) {
  lender *self = TD_NEW(lender);
  self->base.give_back = give_back;
  if (PyObject_GetBuffer(object, &self->view, PyBUF_STRIDED_RO)) {
    free(self);
    return NULL;
  }
  Py_ssize_t n = extent_of(&self->view);
  if (n >= 0)
    return storage_wrap(td_storage_new_lent(self->view.buf, (size_t)n, &self->base), TD_CPU);
  give_back(&self->base);
  return PyErr_Format(PyExc_ValueError, "the buffer has negative strides");
}

static bool
is_empty(const tdpy_sizes *sizes) {
  for (int i = 0; i < sizes->n; i++)
    if (sizes->values[i] == 0) return true;
  return false;
}

/* How many elements from the begin of the storage a tensor needs; -1 if that is no number. */
static int64_t
needed_elements(const tdpy_sizes *sizes, const tdpy_sizes *strides, int64_t offset) {
  int64_t last = offset, step;
  for (int i = 0; i < sizes->n; i++) {
    int64_t steps = sizes->values[i] - 1, stride = strides->values[i];
    if (steps < -1 || stride < 0) return -1;
    if (__builtin_mul_overflow(steps, stride, &step) || __builtin_add_overflow(last, step, &last))
      return -1;
  }
  if (is_empty(sizes)) return offset < 0 ? -1 : offset;
  return offset < 0 || last == INT64_MAX ? -1 : last + 1;
}

static bool
fits(const td_storage *storage, td_dtype dtype, const tdpy_sizes *sizes, const tdpy_sizes *strides,
     int64_t offset) {
  int64_t n = needed_elements(sizes, strides, offset), bytes, size = (int64_t)td_dtype_size(dtype);
  return sizes->n == strides->n && n >= 0 && !__builtin_mul_overflow(n, size, &bytes) &&
         (size_t)bytes <= storage->n_bytes;
}

/* tensor(dtype, offset, sizes, strides): a new tensor in this memory. */
static PyObject *
storage_tensor(PyObject *self, PyObject *args) {
  td_dtype dtype;
  long long offset;
  tdpy_sizes sizes = {0}, strides = {0};
  td_storage *storage = storage_of(self);
  if (!PyArg_ParseTuple(args, "O&LO&O&:tensor", tdpy_dtype_converter, &dtype, &offset,
                        tdpy_sizes_converter, &sizes, tdpy_sizes_converter, &strides))
    return NULL;
  if (!fits(storage, dtype, &sizes, &strides, offset))
    return PyErr_Format(PyExc_RuntimeError,
                        "setStorage: sizes, strides and storage offset are out of bounds for "
                        "storage of size %zu",
                        storage->n_bytes);
  if ((uintptr_t)storage->data % td_dtype_alignment(dtype))
    return PyErr_Format(PyExc_ValueError, "the memory is not aligned for %s", td_dtype_name(dtype));
  td_refcount_inc(&storage->refs);
  return tdpy_tensor_wrap(td_tensor_new_over(storage, dtype, ((storage_object *)self)->device,
                                             sizes.n, sizes.values, strides.values, offset));
}

static PyObject *
storage_nbytes(PyObject *self, PyObject *unused) {
  return PyLong_FromSize_t(storage_of(self)->n_bytes);
}

static PyObject *
storage_data_ptr(PyObject *self, PyObject *unused) {
  return PyLong_FromVoidPtr(storage_of(self)->data);
}

static PyObject *
storage_device(PyObject *self, void *closure) {
  return tdpy_device_wrap(((storage_object *)self)->device);
}

static Py_ssize_t
storage_length(PyObject *self) {
  return (Py_ssize_t)storage_of(self)->n_bytes;
}

static int
storage_get_buffer(PyObject *self, Py_buffer *view, int flags) {
  td_storage *storage = storage_of(self);
  if (storage->data)
    return PyBuffer_FillInfo(view, self, storage->data, (Py_ssize_t)storage->n_bytes, 0, flags);
  PyErr_SetString(PyExc_BufferError, "a storage of the meta device has no memory");
  return -1;
}

static PySequenceMethods storage_sequence = {.sq_length = storage_length};
static PyBufferProcs storage_buffer = {.bf_getbuffer = storage_get_buffer};

static PyMethodDef storage_methods[] = {
    {"from_buffer", storage_from_buffer, METH_O | METH_STATIC, "The memory of an object."},
    {"tensor", storage_tensor, METH_VARARGS,
     "tensor(dtype, offset, sizes, strides): a tensor in this memory."},
    {"nbytes", storage_nbytes, METH_NOARGS, "The number of bytes."},
    {"size", storage_nbytes, METH_NOARGS, "The number of bytes."},
    {"data_ptr", storage_data_ptr, METH_NOARGS, "The address of the first byte."},
    {NULL}};

static PyGetSetDef storage_getset[] = {{"device", storage_device, NULL, "where it lives", NULL},
                                       {NULL}};

static PyTypeObject storage_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.UntypedStorage",
    .tp_basicsize = sizeof(storage_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "UntypedStorage(n)\n--\n\nThe memory of tensors, as bytes.",
    .tp_new = storage_new,
    .tp_dealloc = storage_dealloc,
    .tp_as_sequence = &storage_sequence,
    .tp_as_buffer = &storage_buffer,
    .tp_methods = storage_methods,
    .tp_getset = storage_getset,
};

int
tdpy_storage_add(PyObject *module) {
  return PyModule_AddType(module, &storage_type);
}
