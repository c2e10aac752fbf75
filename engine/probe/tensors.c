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
  if (!tensor_type) tensor_type = td_python_module_item("torch", "Tensor");
  return tensor_type != NULL;
}

/* C's getter asks the modes and classes of tensors that override attributes. So it is not asked of
 * a class of the program's, nor under a mode. Once is enough: then the word is read. */
static bool
may_ask(const td_python *python, void *tensor) {
  const void *type = td_python_type_of(tensor);
  void *parameter = td_python_module_item("torch.nn.parameter", "Parameter");
  void *depth = td_python_module_item("torch._C", "_len_torch_function_stack");
  void *n = depth ? td_python_c_function(depth) : NULL;
  bool may = (type == tensor_type || type == parameter) && td_python_number(n) == 0;
  if (n) python->Py_DecRef(n);
  if (depth) python->Py_DecRef(depth);
  if (parameter) python->Py_DecRef(parameter);
  return may;
}

static bool
find_word(const td_python *python, void *tensor) {
  if (!may_ask(python, tensor)) return false;
  void *number = td_python_c_attribute(tensor, td_python_key("_cdata"));
  uintptr_t address = (uintptr_t)td_python_bits(number);
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
