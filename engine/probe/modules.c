/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Calls of modules]
 * Problem: a node must get the module whose forward makes it, at a cost that nobody measures.
 *
 * Constraint: PyTorch's global hooks on modules are visible. torch.compile warns of them and
 * compiles them, and each costs a microsecond. They do not run if a forward raises.
 *
 * Trick: a Python function has a pointer to the C function that calls it. That of Module.__call__
 * is exchanged: function_call.h.
 *
 * Note [Forwards that run already]
 * The first node is made within a forward, so its module was called before anybody watched. Such a
 * forward has no end that would be seen. So each entry has the address of its frame, and that
 * frame's code. An entry is alive while that frame is on the thread's stack. An entry holds no
 * reference, because a frame keeps tensors alive. */
#include "engine/probe/modules.h"

#include "engine/base/alloc.h"
#include "engine/events/event.h"
#include "engine/probe/function_call.h"
#include "engine/probe/module_root.h"
#include "engine/probe/own_time.h"
#include "engine/probe/steps.h"
#include "engine/probe/variables.h"

#define CALL_HAS_SPARE ((size_t)1 << 63) /* PY_VECTORCALL_ARGUMENTS_OFFSET */

typedef struct entry {
  void *module; /* (borrowed) from its call */
  td_module_name name;
  const void *frame, *code; /* of a forward that ran already, never followed; else NULL */
} entry;

typedef struct entered {
  entry *entries; /* (owned) by the thread, and left when it ends: few and small */
  size_t n, capacity;
  size_t n_before; /* the first ones ran already */
} entered;

static _Thread_local entered own;
static const td_python *python_now;
static td_function_call original;

static void
push(entry new) {
  TD_GROW(own.entries, own.n, own.capacity);
  own.entries[own.n++] = new;
}

static uint32_t
learn(void *module, void *frame) {
  const entry *outer = own.n > 0 ? &own.entries[own.n - 1] : NULL;
  uint32_t parent = outer ? td_module_tree_find(outer->module) : TD_NONE;
  if (parent != TD_NONE) td_module_tree_refresh(python_now, outer->module, parent);
  if (td_module_tree_find(module) == TD_NONE)
    td_module_root_name(python_now, module, frame, outer != NULL);
  return td_module_tree_find(module);
}

static td_module_name
name_of(void *module, void *frame) {
  uint32_t number = td_module_tree_find(module);
  if (number == TD_NONE)
    number = learn(module, frame);
  else if (own.n == 0)
    td_module_tree_refresh(python_now, module, number);
  return number == TD_NONE ? (td_module_name){0} : td_module_tree_name(number);
}

static bool
is_alive(const td_python *python, const entry *wanted) {
  void *held = NULL;
  bool alive = false;
  for (void *frame = python->PyEval_GetFrame(); frame && !alive;
       frame = td_variables_outer(python, frame, &held)) {
    if (frame != wanted->frame) continue;
    void *code = python->PyFrame_GetCode(frame);
    alive = code == wanted->code;
    python->Py_DecRef(code);
  }
  if (held) python->Py_DecRef(held);
  return alive;
}

/* Only if none of the watched forwards runs within them. */
static void
drop_stale(const td_python *python) {
  while (own.n_before > 0 && own.n == own.n_before && !is_alive(python, &own.entries[own.n - 1]))
    own.n = --own.n_before;
}

/* Returns how many are left when it ends. */
static size_t
enter(void *module) {
  td_own_time time = td_own_begin();
  drop_stale(python_now);
  size_t depth = own.n;
  push((entry){.module = module, .name = name_of(module, python_now->PyEval_GetFrame())});
  td_own_end(time, TD_recorder_work_modules);
  return depth;
}

/* What is called instead of Module.__call__. */
static void *
call(void *function, void *const *arguments, size_t n, void *names) {
  bool is_watched = (n & ~CALL_HAS_SPARE) != 0 && td_steps_wants_this();
  if (!is_watched || !td_own_wants(TD_recorder_work_modules))
    return original(function, arguments, n, names);
  size_t depth = enter(arguments[0]);
  void *result = original(function, arguments, n, names);
  if (own.n > depth) own.n = depth;
  return result;
}

td_module_name
td_modules_now(const td_python *python) {
  if (own.n == own.n_before) drop_stale(python);
  return own.n > 0 ? own.entries[own.n - 1].name : (td_module_name){0};
}

bool
td_modules_want_gil(void) {
  return own.n_before > 0 && own.n == own.n_before;
}

/* The forwards that this thread is in already, the outermost first. */
static void
enter_running(const td_python *python, void *frame, const void *wanted) {
  if (!frame) return;
  void *back = python->PyFrame_GetBack(frame), *code = python->PyFrame_GetCode(frame);
  enter_running(python, back, wanted);
  void *module = code == wanted ? td_variables_local(python, frame, "self") : NULL;
  if (module && td_module_is_one(python, module)) {
    td_module_name name = name_of(module, back);
    push((entry){.module = module, .name = name, .frame = frame, .code = code});
    own.n_before = own.n;
  }
  python->Py_DecRef(code);
  if (back) python->Py_DecRef(back);
}

/* The code whose frames have a module as `self` while its forward runs. */
static void *
find_running_code(const td_python *python, void *type) {
  void *function = td_python_class_item(type, td_python_key("_call_impl"));
  void *code = td_python_slot_named(function, "__code__");
  if (function) python->Py_DecRef(function);
  return code;
}

const char *
td_modules_start(const td_python *python) {
  if (!td_python_has_gil()) return "this Python has no GIL";
  if (!python->PyVectorcall_Function || !python->PyFrame_GetBack || !python->PyFrame_GetCode)
    return "this Python is older than 3.9";
  const char *trouble = td_module_tree_start(python);
  if (trouble) return trouble;
  python_now = python;
  void *type = td_python_module_item("torch.nn.modules.module", "Module");
  void *function = td_python_class_item(type, td_python_key("__call__"));
  void *code = find_running_code(python, type);
  bool done = function && (original = td_function_exchange(python, function, call));
  if (done && code) enter_running(python, python->PyEval_GetFrame(), code);
  if (code) python->Py_DecRef(code);
  if (function) python->Py_DecRef(function);
  python->Py_DecRef(type);
  return done ? NULL : "this Python calls modules in another way";
}
