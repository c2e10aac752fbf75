/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reads the arguments of calls. It has converters for PyArg_Parse's "O&", and the options that
 * all constructors share. A converter that allows None changes nothing for it. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/ops/base/generator.h"
#include "engine/torch/tensor/tensor.h"

/* The function and flags of a method or function with keyword arguments. */
#define TDPY_KEYWORDS(function)                                                                    \
  ((PyCFunction)(void (*)(void))function), METH_VARARGS | METH_KEYWORDS

/* Makes of function(self, args, kwargs) one that takes its first arguments by name too: the names
 * follow. */
#define TDPY_BY_NAME(function, ...)                                                                \
  static PyObject *function##_by_name(PyObject *self, PyObject *args, PyObject *kwargs) {          \
    static const char *const names[] = {__VA_ARGS__, NULL};                                        \
    return tdpy_call_by_name(function, self, args, kwargs, names);                                 \
  }
PyObject *tdpy_call_by_name(PyCFunctionWithKeywords function, PyObject *self, PyObject *args,
                            PyObject *kwargs, const char *const names[]);

/* What error texts call the type of an object. Tensors are of no module there. */
const char *tdpy_type_name(PyObject *object);

/* A list of sizes or dimensions. */
typedef struct tdpy_sizes {
  int n;
  int64_t values[TD_MAX_DIMS];
} tdpy_sizes;

/* A Python number. An integer is `whole` too, with all its bits. */
typedef struct tdpy_number {
  double value, imaginary;
  int64_t whole;
  bool is_integer, is_bool, is_complex;
} tdpy_number;

/* dtype=, device=, requires_grad= and generator=; size= if there is a place for it. */
typedef struct tdpy_options {
  td_dtype dtype;
  td_device device;
  int requires_grad;
  td_generator *generator;
  tdpy_sizes *sizes; /* (borrowed), or NULL */
} tdpy_options;

int tdpy_tensor_converter(PyObject *object, void *tensor); /* td_tensor *, borrowed */
int tdpy_optional_tensor_converter(PyObject *object,
                                   void *tensor); /* the same; None changes nothing */
int tdpy_sizes_converter(PyObject *object,
                         void *sizes); /* tdpy_sizes: an int or a sequence of them */
int tdpy_pair_converter(PyObject *object, void *pair); /* int64_t[2]: an int or two */
int tdpy_int_converter(PyObject *object,
                       void *value); /* int64_t; one-element integer tensors too */

/* tdpy_number_read reads a number. Returns false, without an exception, if object is a tensor or
 * no number. */
bool tdpy_number_read(PyObject *object, tdpy_number *number);

/* tdpy_sizes_from_args reads f(2, 3) and f((2, 3)) alike. Returns 1, or 0 with an exception. */
int tdpy_sizes_from_args(PyObject *args, tdpy_sizes *sizes);

/* tdpy_options_read reads the keywords of a constructor. Returns 1, or 0 with a TypeError if it
 * knows no such keyword. */
int tdpy_options_read(const char *function, PyObject *kwargs, tdpy_options *options);

/* tdpy_operand returns object as a tensor that can stand beside `like`: itself, or a number as a
 * 0-dimensional tensor. A new reference. If object is neither, it returns NULL without an
 * exception. */
td_tensor *tdpy_operand(PyObject *object, const td_tensor *like);

/* tdpy_note_failure tells that an operation of these tensors (NULLs allowed) has failed. If it
 * would have left history, it takes a sequence number all the same. Views of tensors that were
 * written get their new nodes. PyTorch makes the node and its edges first. Returns whether it did.
 */
bool tdpy_note_failure(uint32_t n, td_tensor *const *operands);
