/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Binding the arguments of a call to a signature written as text:
 *
 *   "clamp self:T min:N= max:N="     clamp(self, min=None, max=None), a tensor and two numbers
 *
 * A parameter is name:type, followed by = where it may be left out or None; * stands before the
 * first that is a keyword alone. Types: T tensor; O tensor or number, as an operand beside the
 * first argument; N number; I integer; B truth; S integers, or one; V integers, all positional
 * arguments, f(2, 3) or f((2, 3)); L list of tensors; D dtype; W word; A anything (borrowed).
 *
 * Errors are TypeErrors with PyTorch's texts. GIL held. */
#pragma once

#include "engine/python/arguments.h"

#define TDPY_MAX_PARAMETERS 12

typedef struct tdpy_value {
  bool given;
  td_tensor *tensor; /* T: borrowed; O: (owned reference) */
  tdpy_number number;
  int64_t integer;
  tdpy_sizes sizes;
  td_tensor **list; /* (owned array of borrowed tensors) */
  uint32_t n_list;
  td_dtype dtype;
  const char *word;
  PyObject *object;
} tdpy_value;

typedef struct tdpy_signature {
  const char *text;
  /* Read from the text by the first call. */
  bool parsed;
  int n, n_positional;
  char name[32];
  struct {
    char name[24], type;
    bool optional;
  } parameters[TDPY_MAX_PARAMETERS];
} tdpy_signature;

/* tdpy_bind fills values, one per parameter. self, where not NULL, is the first argument. Returns
 * false with an exception, and nothing to clear. */
bool tdpy_bind(tdpy_signature *signature, PyObject *self, PyObject *args, PyObject *kwargs,
               tdpy_value *values);

/* tdpy_values_clear drops what values own. */
void tdpy_values_clear(const tdpy_signature *signature, tdpy_value *values);
