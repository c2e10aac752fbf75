/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Python that runs in the target, by the functions it exports: no header of any one version.
 * Objects are void pointers. All but td_python_find and td_python_enter wants the GIL. */
#pragma once

#include <stdbool.h>
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
#define TD_PYTHON_KEYWORDS 0x03 /* void *(*)(void *self, void *arguments, void *keywords) */

typedef struct td_python {
#define PYTHON(result, name, arguments) result(*name) arguments;
#define PYTHON_IF_THERE PYTHON
#define PYTHON_TYPE(name) void *name;
#include "engine/probe/python_api.def"
#undef PYTHON_TYPE
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

td_python_pending td_python_put_away(const td_python *python);
void td_python_give_back(const td_python *python, td_python_pending pending);

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

/* td_python_run runs a text as a module of its own, with the listed functions as its names. It
 * returns the module's names (owned), or NULL with the reason in words (owned by the caller). */
void *td_python_run(const td_python *python, const char *source, const char *name,
                    td_python_method *methods, char **reason);

/* The probe's Python programs: hooks.py and markers.py, each behind reading.py. */
extern const char td_python_hooks[], td_python_markers[];

/* td_python_type_of returns an object's type (borrowed), td_python_is_a whether its class is `type`
 * or inherits from it. Both read the object's head, which builds without a GIL lay out otherwise:
 * td_python_has_gil. */
static inline void *
td_python_type_of(void *object) {
  return ((void **)object)[1];
}

bool td_python_is_a(const td_python *python, void *object, void *type);
bool td_python_has_gil(void);

/* td_python_text returns a str in UTF-8 (borrowed), or NULL: not an exact str, or not Unicode. The
 * pending exception stays as it is. */
const char *td_python_text(const td_python *python, void *object);

/* td_python_class_name returns the name of an object's class; the caller frees. */
char *td_python_class_name(const td_python *python, void *object);

/* td_python_module_item returns what a loaded module has under a name (owned), or NULL. */
void *td_python_module_item(const td_python *python, const char *module, const char *name);

/* td_python_error takes the pending exception away and returns it in words; the caller frees. */
char *td_python_error(const td_python *python);
