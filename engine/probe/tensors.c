/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/tensors.h"

#include <stddef.h>
#include <stdint.h>

#define FIRST_WORD 2 /* behind the reference count and the type */
#define N_WORDS 6    /* a tensor has at least these */

static void *tensor_type;
static size_t word; /* 0: not found yet */

bool
td_tensors_start(const td_python *python) {
  if (!tensor_type) tensor_type = td_python_module_item(python, "torch", "Tensor");
  return tensor_type != NULL;
}

/* Asking may run Python code, if a mode or a class of tensors overrides attributes. Reading does
 * not. */
static bool
find_word(const td_python *python, void *tensor) {
  void *number = python->PyObject_GetAttrString(tensor, "_cdata");
  uintptr_t address = number ? (uintptr_t)python->PyLong_AsUnsignedLongLongMask(number) : 0;
  python->PyErr_Clear();
  if (number) python->Py_DecRef(number);
  for (size_t i = FIRST_WORD; i < N_WORDS && address; i++)
    if (((uintptr_t *)tensor)[i] == address) word = i;
  return word != 0;
}

const void *
td_tensors_impl(const td_python *python, void *object) {
  if (!tensor_type || !td_python_is_a(python, object, tensor_type)) return NULL;
  if (!word && !find_word(python, object)) return NULL;
  return ((const void **)object)[word];
}
