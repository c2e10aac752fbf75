/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [The lowest creation hook]
 * Problem: each thread has its own stack of creation hooks. Ours must be on the stack of each
 * thread that makes nodes, and the program must not notice.
 *
 * Constraint: a `with` of the program takes away the hook on top when it ends. If that were ours,
 * the program's own would stay for ever. PyTorch also exchanges the whole stack for a while, for
 * instance around each node of a backward pass.
 *
 * Trick: ours enters an empty stack only. Each new node asks anew whether the stack is empty,
 * before PyTorch looks for hooks. So ours is below all others, and a stack that PyTorch exchanges
 * gets it too. If a thread is within a `with` at its first node, ours comes after that.
 *
 * Note [The end of a thread]
 * Problem: a thread's stack goes when the thread has ended for Python already. Releasing the hook
 * takes the GIL then, which nobody may do any more once Python ends.
 *
 * Trick: the thread's dict has a capsule. Python releases it while the thread still has the GIL,
 * and then the hook leaves. Another thread may release it, in the child of a fork; it has another
 * address of `own`. */
#include "engine/probe/creation.h"

#include <stddef.h>

#define CAPSULE "tapedeck creation hook"

static const td_python *python_now;
static bool (*no_hooks)(void); /* NULL: there are no creation hooks */
static uint64_t (*thread_id)(void);
static void *metadata_key;     /* (owned) */
static void *context;          /* (owned) torch.autograd.graph.node_creation_hook(note_made) */
static _Thread_local char own; /* its address is the thread's */

static void
drop(void *object) {
  if (object) python_now->Py_DecRef(object);
}

/* note_made(node): PyTorch calls it. */
static void *
note_made(void *self, void *const *arguments, td_python_size n) {
  void *metadata = n == 1 ? td_python_c_attribute(arguments[0], metadata_key) : NULL;
  void *thread = python_now->PyLong_FromUnsignedLongLong(thread_id());
  td_python_set(metadata, TD_CREATION_THREAD, thread);
  drop(thread);
  drop(metadata);
  return python_now->Py_BuildValue("");
}

static void
leave_cb(void *capsule) {
  td_python_hold hold;
  bool is_own = python_now->PyCapsule_GetPointer(capsule, CAPSULE) == &own;
  if (!is_own || no_hooks() || !td_python_enter(python_now, &hold)) return;
  void *nothing = python_now->Py_BuildValue("(OOO)", python_now->_Py_NoneStruct,
                                            python_now->_Py_NoneStruct, python_now->_Py_NoneStruct);
  drop(td_python_call_method(context, "__exit__", nothing));
  drop(nothing);
  td_python_leave(python_now, hold);
}

/* An earlier capsule of the thread goes here. The stack is empty, so that takes no hook away. */
static bool
watch_end(void) {
  void *of_thread = python_now->PyThreadState_GetDict();
  void *capsule = of_thread ? python_now->PyCapsule_New(&own, CAPSULE, leave_cb) : NULL;
  bool done = td_python_set(of_thread, CAPSULE, capsule);
  drop(capsule);
  return done;
}

bool
td_creation_is_missing(void) {
  return no_hooks && no_hooks();
}

void
td_creation_enter(void) {
  int had_gc = python_now->PyGC_Disable ? python_now->PyGC_Disable() : 0;
  td_python_pending pending = td_python_put_away();
  void *entered = watch_end() ? td_python_call_method(context, "__enter__", NULL) : NULL;
  if (!entered) td_python_raise_later(python_now);
  drop(entered);
  td_python_give_back(pending);
  if (had_gc) python_now->PyGC_Enable();
}

void
td_creation_start(const td_python *python, bool (*are_no_hooks)(void), uint64_t (*thread)(void)) {
  static td_python_method method = {"note_made", note_made, TD_PYTHON_FASTCALL, NULL};
  python_now = python;
  thread_id = thread;
  void *type = td_python_module_item("torch.autograd.graph", "node_creation_hook");
  void *note = python->PyCFunction_NewEx(&method, NULL, NULL);
  context = type ? td_python_call_with(type, note, NULL) : NULL;
  if (!context) td_python_raise_later(python);
  metadata_key = td_python_key("metadata");
  drop(type);
  drop(note);
  if (context) no_hooks = are_no_hooks;
}
