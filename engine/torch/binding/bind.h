/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Binds the arguments of a call to a signature, which is a text:
 *
 *   "clamp self:T min:N= max:N="     clamp(self, min=None, max=None): a tensor, two numbers
 *
 * A parameter is name:type. A = after it says that it may be absent or None. A * stands before
 * the first parameter that is a keyword only. Types:
 *
 * - T: a tensor
 * - O: a tensor or a number, as an operand beside the first argument
 * - N: a number; I: an integer; B: a truth value
 * - S: integers, or one integer
 * - V: integers that take all positional arguments, f(2, 3) or f((2, 3))
 * - L: a list of tensors; D: a dtype; W: a word
 * - R: a generator (borrowed); A: anything (borrowed)
 *
 * Errors are TypeErrors with PyTorch's texts. GIL held. */
#pragma once

#include "engine/torch/binding/arguments.h"

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
  td_generator *generator;
  PyObject *object; /* O, A: (borrowed) */
} tdpy_value;

typedef struct tdpy_signature {
  const char *text;
  /* The first call reads these from the text. */
  bool parsed;
  int n, n_positional;
  char name[32];
  struct {
    char name[24], type;
    bool optional;
  } parameters[TDPY_MAX_PARAMETERS];
} tdpy_signature;

/* tdpy_bind fills one value for each parameter. self is the first argument, if it is not NULL.
 * If it fails, it returns false with an exception; there is nothing to clear then. */
bool tdpy_bind(tdpy_signature *signature, PyObject *self, PyObject *args, PyObject *kwargs,
               tdpy_value *values);

/* tdpy_values_clear drops what values own. */
void tdpy_values_clear(const tdpy_signature *signature, tdpy_value *values);
