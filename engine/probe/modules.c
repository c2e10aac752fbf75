/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Modules that raise]
 * Problem: a module's forward hook does not run when its forward raises. So an entry of a thread's
 * list may be stale.
 *
 * Constraint: an entry must not hold a frame, because a frame keeps tensors alive.
 *
 * Trick: each entry has the address of the frame that called the hook, and that frame's code. An
 * entry is alive while this frame is on the thread's stack. Another frame may get the address. If
 * it also has this code, it is another call of a module, and that call removed the entry when it
 * entered. */
#include "engine/probe/modules.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/probe/ids.h"

typedef struct entry {
  const void *frame, *code; /* never followed */
  uint32_t name;
} entry;

typedef struct entered {
  entry *entries; /* (owned) by the thread, and left when it ends: few and small */
  size_t n, capacity;
} entered;

static _Thread_local entered own;
static td_ids *labels; /* (owned) */
static const td_python *python_now;

/* The next frame outwards; takes the reference of the one before, if it is held. */
static void *
step_out(const td_python *python, void *frame, void **held) {
  void *back = python->PyFrame_GetBack(frame);
  if (*held) python->Py_DecRef(*held);
  return *held = back;
}

static bool
is_alive(const td_python *python, const entry *wanted) {
  void *held = NULL;
  bool alive = false;
  for (void *frame = python->PyEval_GetFrame(); frame && !alive;
       frame = step_out(python, frame, &held)) {
    if (frame != wanted->frame) continue;
    void *code = python->PyFrame_GetCode(frame);
    alive = code == wanted->code;
    python->Py_DecRef(code);
  }
  if (held) python->Py_DecRef(held);
  return alive;
}

static void
drop_stale(const td_python *python) {
  while (own.n > 0 && !is_alive(python, &own.entries[own.n - 1]))
    own.n--;
}

uint32_t
td_modules_now(const td_python *python) {
  drop_stale(python);
  return own.n > 0 ? own.entries[own.n - 1].name : 0;
}

static void *
none(void) {
  return python_now->Py_BuildValue("");
}

/* The frame that calls a module's hooks: the one outside the hook's own. */
static entry
caller(void) {
  entry here = {0};
  void *back = python_now->PyFrame_GetBack(python_now->PyEval_GetFrame());
  if (!back) return here;
  void *code = python_now->PyFrame_GetCode(back);
  here.frame = back;
  here.code = code;
  python_now->Py_DecRef(code);
  python_now->Py_DecRef(back);
  return here;
}

static void
enter_entry(entry here) {
  for (size_t i = 0; i < own.n; i++)
    if (own.entries[i].frame == here.frame) own.n = i;
  TD_GROW(own.entries, own.n, own.capacity);
  own.entries[own.n++] = here;
}

/* enter(name): a module's forward begins; its name is a number of name_number. */
static void *
enter_module(void *self, void *const *arguments, td_python_size n) {
  entry here = caller();
  if (n != 1 || !here.frame) return none();
  here.name = (uint32_t)python_now->PyLong_AsUnsignedLongLongMask(arguments[0]);
  enter_entry(here);
  return none();
}

/* enter_at(frame, code, name): one that began before anybody watched. */
static void *
enter_module_at(void *self, void *const *arguments, td_python_size n) {
  if (n == 3)
    enter_entry((entry){.frame = arguments[0],
                        .code = arguments[1],
                        .name = (uint32_t)python_now->PyLong_AsUnsignedLongLongMask(arguments[2])});
  return none();
}

/* leave(): its forward has returned. */
static void *
leave_module(void *self, void *const *arguments, td_python_size n) {
  entry here = caller();
  size_t at = own.n;
  while (at > 0 && own.entries[at - 1].frame != here.frame)
    at--;
  if (at > 0) own.n = at - 1;
  return none();
}

/* name_number(text) */
static void *
name_number(void *self, void *const *arguments, td_python_size n) {
  const char *text = n == 1 ? python_now->PyUnicode_AsUTF8(arguments[0]) : NULL;
  if (!text) return NULL;
  return python_now->PyLong_FromUnsignedLongLong(td_intern(text));
}

/* label(address, number): the parameter at this address has this name; None takes it away. */
static void *
label_parameter(void *self, void *const *arguments, td_python_size n) {
  if (n != 2) return none();
  uint64_t address = python_now->PyLong_AsUnsignedLongLongMask(arguments[0]);
  uint32_t number = (uint32_t)python_now->PyLong_AsUnsignedLongLongMask(arguments[1]);
  td_ids_set(labels, (const void *)(uintptr_t)address, number ? number : TD_NONE);
  return none();
}

static td_python_method methods[] = {
    {"enter", enter_module, TD_PYTHON_FASTCALL, NULL},
    {"enter_at", enter_module_at, TD_PYTHON_FASTCALL, NULL},
    {"leave", leave_module, TD_PYTHON_FASTCALL, NULL},
    {"name_number", name_number, TD_PYTHON_FASTCALL, NULL},
    {"label", label_parameter, TD_PYTHON_FASTCALL, NULL},
    {0},
};

uint32_t
td_modules_label(const void *tensor) {
  uint32_t label = tensor ? td_ids_find(labels, tensor) : TD_NONE;
  return label == TD_NONE ? 0 : label;
}

char *
td_modules_start(const td_python *python) {
  char *reason = NULL;
  python_now = python;
  labels = td_ids_new();
  int state = python->PyGILState_Ensure();
  td_python_run(python, td_python_stacks, "<tapedeck stacks.py>", methods, &reason);
  python->PyGILState_Release(state);
  return reason;
}
