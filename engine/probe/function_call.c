/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/function_call.h"

#include <stddef.h>

#define N_WORDS 24 /* of a function object */

td_function_call
td_function_exchange(const td_python *python, void *function, td_function_call call) {
  void *before = python->PyVectorcall_Function ? python->PyVectorcall_Function(function) : NULL;
  if (!before) return NULL;
  if (python->PyFunction_SetVectorcall) {
    python->PyFunction_SetVectorcall(function, (void *)call);
    return (td_function_call)before;
  }
  void **words = function;
  for (size_t i = 2; i < N_WORDS; i++)
    if (words[i] == before) {
      words[i] = (void *)call;
      return (td_function_call)before;
    }
  return NULL;
}
