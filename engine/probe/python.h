/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Python that runs in the target, by the functions it exports: no header of any one version.
 * Objects are void pointers. All but td_python_find and td_python_enter wants the GIL.
 *
 * Note [One door to Python]
 * Problem: the program's objects may run its code if somebody reads an attribute,
 * compares, counts or calls them. That code may do anything, also call backward, and Python may run
 * a handler of a signal within it. None of that may come from looking.
 *
 * So this file reads all objects of the program, and the rest of the probe has only what is
 * declared here: tests/repo/check_python_door.py. What is declared here keeps four promises, but
 * for what says otherwise:
 * - It reads exact types and slots of Python's own. No code of the program runs, and no instruction
 *   of Python either, so no handler of a signal.
 * - It leaves no exception. Whoever comes from the program puts the program's away before.
 * - Its work does not grow with what the object holds.
 * - It takes no lock. Py_DecRef may run a finalizer of the program: hold none then.
 *
 * td_python_call, td_python_call_method and td_python_run say otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef intptr_t td_python_size;

/* PyMethodDef, whose layout is part of the stable ABI; METH_FASTCALL. */
typedef void *(*td_python_function)(void *self, void *const *arguments, td_python_size n);
typedef struct td_python_method {
  const char *name;
  td_python_function function;
  int flags;
  const char *doc;
} td_python_method;

#define TD_PYTHON_FASTCALL 0x80
#define TD_PYTHON_VARARGS 0x01  /* void *(*)(void *self, void *arguments) */
#define TD_PYTHON_KEYWORDS 0x03 /* void *(*)(void *self, void *arguments, void *keywords) */

typedef struct td_python {
#define PYTHON(result, name, arguments) result(*name) arguments;
#define PYTHON_IF_THERE PYTHON
#define PYTHON_DOOR(result, name, arguments)
#define PYTHON_DOOR_IF_THERE PYTHON_DOOR
#define PYTHON_TYPE(name) void *name;
#include "engine/probe/python_api.def"
#undef PYTHON_TYPE
#undef PYTHON_DOOR_IF_THERE
#undef PYTHON_DOOR
#undef PYTHON_IF_THERE
#undef PYTHON
} td_python;

/* td_python_find returns the functions of the process's Python, or NULL if no Python runs. Any
 * thread. */
const td_python *td_python_find(void);

/* td_python_is_held tells whether this thread has the GIL. */
bool td_python_is_held(void);

/* td_python_put_away takes away the exception that the program may have pending, so that reading
 * can neither meet nor lose it. td_python_give_back drops what reading left and restores it. */
typedef struct td_python_pending {
  void *type, *value, *traceback; /* (owned) */
} td_python_pending;

td_python_pending td_python_put_away(void);
void td_python_give_back(td_python_pending pending);

/* td_python_enter takes the GIL for a thread that Python knows, and puts the pending exception
 * away. It returns false and takes nothing if Python does not know the thread or is ending.
 * td_python_leave gives back what it took. */
typedef struct td_python_hold {
  bool taken;
  int state;
  td_python_pending pending;
} td_python_hold;

bool td_python_enter(const td_python *python, td_python_hold *hold);
void td_python_leave(const td_python *python, td_python_hold hold);

/* td_python_is_object tells whether a pointer looks like that to an object. It follows only
 * pointers to memory that is there, and needs no GIL. */
bool td_python_is_object(const td_python *python, const void *object);

/* td_python_type_of returns an object's type (borrowed), td_python_is_a whether its class is `type`
 * or inherits from it. */
extern size_t td_python_type_word; /* of an object: builds without a GIL have another head */

static inline void *
td_python_type_of(void *object) {
  return ((void **)object)[td_python_type_word];
}

bool td_python_is_a(const td_python *python, void *object, void *type);
bool td_python_has_gil(void);

/* ---- reading ---- */

/* td_python_text returns a str in UTF-8 (borrowed), or NULL: not an exact str, or not Unicode. The
 * pending exception stays as it is. */
const char *td_python_text(const td_python *python, void *object);

/* td_python_number and td_python_bits return an int, its low 64 bits if it is greater; 0 for what
 * is no int. td_python_is_true tells whether an object is True itself. */
long long td_python_number(void *object);
uint64_t td_python_bits(void *object);
bool td_python_is_true(void *object);

/* td_python_key returns the str of a name that is looked up often. It is never freed. */
void *td_python_key(const char *name);

/* td_python_slot returns an attribute of an object whose exact type is Python's own: a code, frame,
 * function (also of C), method, or functools.partial; but not __qualname__ of a function of C.
 * td_python_own returns what an object's own dict has under a name, td_python_own_dict that dict.
 * All owned, or NULL. */
void *td_python_slot(void *object, void *key);
void *td_python_slot_named(void *object, const char *name);
void *td_python_own(void *object, void *key);
void *td_python_own_dict(void *object);
bool td_python_is_partial(const void *type);

/* td_python_c_attribute returns an attribute that C has given to an object's class (owned), or
 * NULL: there is none, or a class of the program's defines it anew. C's getter runs. */
void *td_python_c_attribute(void *object, void *key);

/* td_python_c_call calls a method without arguments that C has given to an object's class. Owned,
 * or NULL: as td_python_c_attribute. */
void *td_python_c_call(void *object, void *key);

/* td_python_c_function calls a function that C has made, without arguments. Owned, or NULL. */
void *td_python_c_function(void *function);

/* td_python_item returns what an exact dict has under a name (borrowed), or NULL. td_python_set
 * puts a value there, and returns false without memory. */
void *td_python_item(void *dict, const char *name);
bool td_python_set(void *dict, const char *name, void *value);

/* td_python_empty puts an empty tuple into a tuple that only C's caller has. Another tuple stays as
 * it is. */
void td_python_empty(void *tuple, td_python_size at);

/* td_python_class_name returns the name of an object's class; the caller frees. */
char *td_python_class_name(void *object);

/* td_python_class_item returns what a class or one of its bases has under a name, and
 * td_python_class_slot one of the attributes that `type` gives to each class. No metaclass
 * hears of it. td_python_subclasses returns a list of the classes that inherit from a class at
 * once. All owned, or NULL. */
void *td_python_class_item(void *type, void *key);
void *td_python_class_slot(void *type, void *key);
void *td_python_subclasses(void *type);

/* td_python_module_item returns what a loaded module has under a name (owned), or NULL. A
 * __getattr__ of the module does not run. */
void *td_python_module_item(const char *module, const char *name);

/* td_python_local returns the value of a frame's variable (owned), or NULL: it has none now, or
 * this Python cannot say (before 3.12). td_python_has_locals tells whether it can. */
void *td_python_local(void *frame, void *name);
bool td_python_has_locals(void);

/* td_python_weak returns a weak reference (owned), or NULL for an object that takes none. */
void *td_python_weak(void *object, void *callback);

/* ---- running ---- */

/* td_python_run runs a text as a module of its own, with the listed functions as its names. It
 * returns the module's names (owned), or NULL with the reason in words (owned by the caller). */
void *td_python_run(const td_python *python, const char *source, const char *name,
                    td_python_method *methods, char **reason);

/* The probe's Python programs: hooks.py and markers.py, each behind reading.py. */
extern const char td_python_hooks[], td_python_markers[];

/* td_python_call calls what the program would call, or a function of ours; `keywords` may be NULL.
 * td_python_call_with gives it one argument, or two, or none. td_python_call_method calls a method
 * with a tuple of arguments, or NULL. The result is owned. NULL: what was raised is pending. */
void *td_python_call(void *callable, void *arguments, void *keywords);
void *td_python_call_with(void *callable, void *one, void *two);
void *td_python_call_method(void *object, const char *name, void *arguments);

/* td_python_was_too_deep takes the pending exception away if it is a RecursionError, and tells
 * whether it was: a function of ours is deeper than the program. */
bool td_python_was_too_deep(void);

/* td_python_catch takes the pending exception away, as an object. td_python_raise makes one
 * pending. td_python_raise_later does so in the main thread, as soon as Python may run handlers of
 * signals there: what is pending came from one, in a place that can raise nothing. */
td_python_pending td_python_catch(void);
void td_python_raise(void *exception);
void td_python_raise_later(const td_python *python);
