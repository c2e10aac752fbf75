/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/function_call.h"

#include <stddef.h>

#define N_WORDS 24 /* of a function object */

static const td_python *python_now;
static td_function_call plain; /* how Python calls its functions; the same for all of them */

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

/* A handler of a signal that runs meanwhile is hidden too. */
static void *
call_hidden(void *function, void *const *arguments, size_t n, void *names) {
  void *state = python_now->PyGILState_GetThisThreadState();
  python_now->PyThreadState_EnterTracing(state);
  void *result = plain(function, arguments, n, names);
  python_now->PyThreadState_LeaveTracing(state);
  return result;
}

void
td_function_hide(const td_python *python, void *function) {
  if (!python->PyThreadState_EnterTracing || !python->PyThreadState_LeaveTracing) return;
  python_now = python;
  if (!plain) plain = (td_function_call)python->PyVectorcall_Function(function);
  if (plain) td_function_exchange(python, function, call_hidden);
}
