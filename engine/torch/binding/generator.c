/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/generator.h"

#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/types.h"

#include <stddef.h>
#include <string.h>
#include <sys/random.h>

typedef struct generator_object {
  PyObject_HEAD td_generator *generator; /* (borrowed) `own`, or NULL: the default one */
  td_generator own;
} generator_object;

static td_generator *
generator_of(PyObject *self) {
  return ((generator_object *)self)->generator;
}

static PyObject *
generator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"device", NULL};
  td_device device = TD_CPU;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&:Generator", names, tdpy_device_converter,
                                   &device))
    return NULL;
  generator_object *self = (generator_object *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  td_generator_init(&self->own, TD_GENERATOR_SEED);
  self->generator = &self->own;
  return (PyObject *)self;
}

static void
generator_dealloc(PyObject *self) {
  if (generator_of(self)) td_generator_fini(generator_of(self));
  Py_TYPE(self)->tp_free(self);
}

static PyObject *
manual_seed(PyObject *self, PyObject *seed) {
  if (!PyLong_Check(seed))
    return PyErr_Format(PyExc_RuntimeError, "manual_seed expected a long, but got %s",
                        Py_TYPE(seed)->tp_name);
  int overflow;
  long long value = PyLong_AsLongLongAndOverflow(seed, &overflow);
  unsigned long long bits =
      overflow > 0 ? PyLong_AsUnsignedLongLong(seed) : (unsigned long long)value;
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long");
    return NULL;
  }
  td_generator_seed(generator_of(self), bits);
  return Py_NewRef(self);
}

/* A seed that nobody can foresee, as PyTorch's of 53 bits. */
static PyObject *
seed(PyObject *self, PyObject *unused) {
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) return PyErr_SetFromErrno(PyExc_OSError);
  bits &= ((uint64_t)1 << 53) - 1;
  td_generator_seed(generator_of(self), bits);
  return PyLong_FromUnsignedLongLong(bits);
}

static PyObject *
initial_seed(PyObject *self, PyObject *unused) {
  td_generator_state state;
  td_generator_get(generator_of(self), &state);
  return PyLong_FromUnsignedLongLong(state.seed);
}

/* A state as PyTorch lays it out. */
typedef struct packed {
  uint64_t seed;
  int32_t left, seeded;
  uint64_t next, words[TD_GENERATOR_WORDS];
  double unused, normal, unused_too;
  int32_t has_normal, has_float_normal[3];
} packed;
_Static_assert(sizeof(packed) == 5056, "PyTorch's states are as long");

static void
pack(td_generator *generator, packed *to) {
  td_generator_state state;
  td_generator_get(generator, &state);
  *to = (packed){.seed = state.seed,
                 .left = state.left,
                 .seeded = 1,
                 .next = (uint64_t)state.next,
                 .normal = state.has_normal ? state.normal : 0,
                 .has_normal = state.has_normal};
  for (int i = 0; i < TD_GENERATOR_WORDS; i++)
    to->words[i] = state.words[i];
}

/* False with an exception for what is no state. */
static bool
unpack(td_generator *generator, const packed *from) {
  td_generator_state state = {.seed = from->seed,
                              .left = from->left,
                              .next = (int)from->next,
                              .has_normal = from->has_normal,
                              .normal = from->normal};
  if (from->left < 1 || from->left > TD_GENERATOR_WORDS || from->next > TD_GENERATOR_WORDS ||
      from->left + (int)from->next > TD_GENERATOR_WORDS + 1) {
    PyErr_SetString(PyExc_RuntimeError, "Invalid mt19937 state");
    return false;
  }
  for (int i = 0; i < TD_GENERATOR_WORDS; i++)
    state.words[i] = (uint32_t)from->words[i];
  td_generator_set(generator, &state);
  return true;
}

/* States are tensors of bytes; an engine without torch.uint8 takes a longer dtype. */
static td_dtype
byte_dtype(void) {
  for (int i = 0; i < TD_N_DTYPES; i++)
    if (strcmp(td_dtype_short_name((td_dtype)i), "uint8") == 0) return (td_dtype)i;
  return TD_INT32;
}

static PyObject *
get_state(PyObject *self, PyObject *unused) {
  packed state;
  int64_t n = sizeof state;
  td_error error = {0};
  td_tensor *out = NULL;
  pack(generator_of(self), &state);
  td_status status = td_tensor_new_empty(byte_dtype(), TD_CPU, 1, &n, &out, &error);
  for (int64_t i = 0; !status && i < n; i++)
    td_tensor_set(out, i, ((unsigned char *)&state)[i]);
  return tdpy_result(status, out, &error);
}

static PyObject *
set_state(PyObject *self, PyObject *object) {
  packed state;
  const td_tensor *tensor = tdpy_tensor_is(object) ? tdpy_tensor_of(object) : NULL;
  if (!tensor || tensor->dtype != byte_dtype())
    return PyErr_Format(PyExc_TypeError, "RNG state must be a torch.ByteTensor");
  if (td_tensor_n_elements(tensor) != sizeof state)
    return PyErr_Format(PyExc_RuntimeError, "RNG state is wrong size");
  for (size_t i = 0; i < sizeof state; i++)
    ((unsigned char *)&state)[i] = (unsigned char)td_tensor_get(tensor, (int64_t)i);
  return unpack(generator_of(self), &state) ? Py_NewRef(self) : NULL;
}

/* The state as opaque bytes, for this package's own use. */
static PyObject *
get_bytes(PyObject *self, PyObject *unused) {
  packed state;
  pack(generator_of(self), &state);
  return PyBytes_FromStringAndSize((const char *)&state, sizeof state);
}

static PyObject *
set_bytes(PyObject *self, PyObject *bytes) {
  if (!PyBytes_Check(bytes) || PyBytes_GET_SIZE(bytes) != sizeof(packed))
    return PyErr_Format(PyExc_TypeError, "expected what _get_bytes() returned");
  if (!unpack(generator_of(self), (const packed *)PyBytes_AS_STRING(bytes))) return NULL;
  Py_RETURN_NONE;
}

static PyObject *
get_device(PyObject *self, void *closure) {
  return tdpy_device_wrap(TD_CPU);
}

static PyMethodDef methods[] = {
    {"manual_seed", manual_seed, METH_O, "Starts again, with this seed."},
    {"seed", seed, METH_NOARGS, "Starts again, with a seed that nobody can foresee."},
    {"initial_seed", initial_seed, METH_NOARGS, "The seed it started with."},
    {"get_state", get_state, METH_NOARGS, "Where it is, as a tensor of bytes."},
    {"set_state", set_state, METH_O, "Goes back to where get_state() was called."},
    {"_get_bytes", get_bytes, METH_NOARGS, NULL},
    {"_set_bytes", set_bytes, METH_O, NULL},
    {NULL}};

static PyGetSetDef getset[] = {{"device", get_device, NULL, "the CPU", NULL}, {NULL}};

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch._C.Generator",
    .tp_basicsize = sizeof(generator_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "Generator(device='cpu')\n--\n\nRandom numbers with a seed of their own.",
    .tp_new = generator_new,
    .tp_dealloc = generator_dealloc,
    .tp_methods = methods,
    .tp_getset = getset,
};

int
tdpy_generator_converter(PyObject *object, void *generator) {
  if (object == Py_None) return 1;
  if (!PyObject_TypeCheck(object, &type)) {
    PyErr_Format(PyExc_TypeError, "argument 'generator' must be torch.Generator, not %s",
                 Py_TYPE(object)->tp_name);
    return 0;
  }
  *(td_generator **)generator = generator_of(object);
  return 1;
}

int
tdpy_generator_add(PyObject *module) {
  if (PyModule_AddType(module, &type)) return -1;
  PyObject *generator = type.tp_alloc(&type, 0); /* zeroed: the default one */
  int failed = !generator || PyModule_AddObjectRef(module, "default_generator", generator);
  Py_XDECREF(generator);
  return failed ? -1 : 0;
}
