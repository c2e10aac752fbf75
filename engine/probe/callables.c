/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/callables.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/events/emit.h"

#include <string.h>

#define STEPS_MAX 8        /* of wrappers around a function */
#define KNOWN_MAX 65536    /* a program may make code at run time */
#define GOES_ON UINT32_MAX /* the name is that of what the function wraps */

/* The names of functions by their code and qualified name, and of classes. Both stay referenced.
 * Guarded by the GIL: Pythons without one remember nothing. */
static td_number_map known;

/* Names of attributes, made once. Guarded by the GIL. */
static struct {
  void *code, *qualified, *module, *function, *partial, *wrapped, *call;
  void *partial_type;
} names;

static void
make_names(const td_python *python) {
  if (names.code) return;
  names.qualified = python->PyUnicode_InternFromString("__qualname__");
  names.module = python->PyUnicode_InternFromString("__module__");
  names.function = python->PyUnicode_InternFromString("__func__");
  names.partial = python->PyUnicode_InternFromString("func");
  names.wrapped = python->PyUnicode_InternFromString("__wrapped__");
  names.call = python->PyUnicode_InternFromString("__call__");
  names.code = python->PyUnicode_InternFromString("__code__");
}

static void
drop(const td_python *python, void *object) {
  if (object) python->Py_DecRef(object);
}

/* Owned, or NULL. */
static void *
attribute(const td_python *python, void *object, void *name) {
  void *value = object && name ? python->PyObject_GetAttr(object, name) : NULL;
  if (!value) python->PyErr_Clear();
  return value;
}

static const char *
text_of(const td_python *python, void *object) {
  return td_python_text(python, object);
}

/* The last part of a path. A package's file has the package before it. */
static const char *
short_path(const char *path) {
  const char *file = strrchr(path, '/');
  if (!file) return path;
  if (strncmp(file, "/__", 3) != 0) return file + 1;
  while (file > path && file[-1] != '/')
    file--;
  return file;
}

/* "name (file:line)"; the caller frees. */
static char *
name_with_place(const td_python *python, const char *name, void *code) {
  void *file = python->PyObject_GetAttrString(code, "co_filename");
  void *line = python->PyObject_GetAttrString(code, "co_firstlineno");
  const char *path = text_of(python, file);
  char *text = path && line ? td_format("%s (%s:%lld)", name, short_path(path),
                                        python->PyLong_AsLongLong(line))
                            : td_dup_string(name);
  python->PyErr_Clear();
  drop(python, file);
  drop(python, line);
  return text;
}

static uint64_t
key_of(const void *what, const void *name) {
  uint64_t key = (uint64_t)(uintptr_t)what * 0xff51afd7ed558ccdu;
  return (key ^ key >> 29 ^ (uint64_t)(uintptr_t)name) * 0xc4ceb9fe1a85ec53u;
}

static uint32_t
find_known(const void *what, const void *name) {
  const uint64_t *found = td_number_map_find(&known, key_of(what, name));
  return found ? (uint32_t)*found : 0;
}

static void
remember(const td_python *python, void *what, void *name, uint32_t text) {
  if (known.n >= KNOWN_MAX || !td_python_has_gil()) return;
  python->Py_IncRef(what);
  if (name) python->Py_IncRef(name);
  *td_number_map_put(&known, key_of(what, name)) = text;
}

static uint32_t
intern_and_free(char *text) {
  uint32_t number = td_intern(text);
  free(text);
  return number;
}

/* What a variable of a function's closure holds (owned), or NULL. */
static void *
closed_over(const td_python *python, void *function, void *code, const char *name) {
  void *cells = python->PyObject_GetAttrString(function, "__closure__"), *found = NULL;
  void *free_names = python->PyObject_GetAttrString(code, "co_freevars");
  td_python_size n = cells && free_names ? python->PyTuple_Size(cells) : 0;
  for (td_python_size i = 0; i < n && !found; i++) {
    const char *text = text_of(python, python->PyTuple_GetItem(free_names, i));
    if (text && strcmp(text, name) == 0)
      found = python->PyCell_Get(python->PyTuple_GetItem(cells, i));
  }
  python->PyErr_Clear();
  drop(python, free_names);
  drop(python, cells);
  return found;
}

/* The only element of a list that an object has (owned), or NULL. */
static void *
only_one(const td_python *python, void *object, const char *list_name) {
  void *list = python->PyObject_GetAttrString(object, list_name), *one = NULL;
  void *type = list ? python->PyObject_Type(list) : NULL;
  if (type == python->PyList_Type && python->PyList_Size(list) == 1)
    one = python->PyList_GetItem(list, 0);
  if (one) python->Py_IncRef(one);
  python->PyErr_Clear();
  drop(python, type);
  drop(python, list);
  return one;
}

static bool
is_torchs(const td_python *python, void *function) {
  void *module = attribute(python, function, names.module);
  const char *name = text_of(python, module);
  bool is_own =
      name && (strcmp(name, "torch.utils.hooks") == 0 || strcmp(name, "torch.autograd.graph") == 0);
  drop(python, module);
  return is_own;
}

/* PyTorch has functions of its own around the backward hooks of a module, and around a hook of
 * several tensors: what such a function calls (owned), or NULL. */
static void *
inside_torchs(const td_python *python, void *function, void *code, const char *name) {
  void *hook = closed_over(python, function, code, "fn");
  void *hooks = hook ? NULL : closed_over(python, function, code, "self");
  if (hooks)
    hook = only_one(python, hooks,
                    name && strstr(name, "_set_user_hook") ? "user_hooks" : "user_pre_hooks");
  drop(python, hooks);
  return hook;
}

static char *
own_name(const td_python *python, void *qualified, void *code) {
  const char *name = text_of(python, qualified);
  return name_with_place(python, name ? name : "?", code);
}

/* 0 if the name is that of *next (owned), which the function wraps. */
static uint32_t
name_of_function(const td_python *python, void *function, void **next) {
  void *code = attribute(python, function, names.code);
  void *qualified = attribute(python, function, names.qualified);
  uint32_t number = code ? find_known(code, qualified) : 0;
  if (code && (!number || number == GOES_ON)) {
    bool is_own = is_torchs(python, function);
    *next = attribute(python, function, names.wrapped);
    if (!*next && is_own) *next = inside_torchs(python, function, code, text_of(python, qualified));
    bool goes_on = *next || is_own;
    uint32_t name = *next ? 0 : intern_and_free(own_name(python, qualified, code));
    if (!number) remember(python, code, qualified, goes_on ? GOES_ON : name);
    number = name;
  }
  drop(python, code);
  drop(python, qualified);
  return number;
}

/* "module.name" of what C has made. */
static uint32_t
name_of_builtin(const td_python *python, void *object) {
  void *module = attribute(python, object, names.module);
  void *qualified = attribute(python, object, names.qualified);
  const char *first = text_of(python, module), *last = text_of(python, qualified);
  char *text = first && last ? td_format("%s.%s", first, last) : td_dup_string(last ? last : "?");
  drop(python, module);
  drop(python, qualified);
  return intern_and_free(text);
}

/* "Class.__call__ (file:line)", or "module.Class" if C has made its call. */
static uint32_t
name_of_object(const td_python *python, void *type) {
  uint32_t number = find_known(type, NULL);
  if (number) return number;
  void *call = attribute(python, type, names.call), *code = attribute(python, call, names.code);
  void *qualified = attribute(python, type, names.qualified);
  const char *name = text_of(python, qualified);
  if (code && name) {
    char *method = td_format("%s.__call__", name);
    number = intern_and_free(name_with_place(python, method, code));
    free(method);
  } else {
    number = name_of_builtin(python, type);
  }
  remember(python, type, NULL, number);
  drop(python, qualified);
  drop(python, code);
  drop(python, call);
  return number;
}

static bool
is_partial(const td_python *python, const void *type) {
  if (!names.partial_type)
    names.partial_type = td_python_module_item(python, "functools", "partial");
  return type == names.partial_type;
}

static bool
is_builtin(const td_python *python, const void *type) {
  return type == python->PyCFunction_Type || type == python->PyMethodDescr_Type ||
         type == python->PyWrapperDescr_Type || type == python->PyType_Type;
}

/* The number of the name, or 0 if it is that of *next (owned). */
static uint32_t
step(const td_python *python, void *callable, void **next) {
  void *type = python->PyObject_Type(callable);
  uint32_t number = 0;
  if (type == python->PyFunction_Type)
    number = name_of_function(python, callable, next);
  else if (type == python->PyMethod_Type)
    *next = attribute(python, callable, names.function);
  else if (is_partial(python, type))
    *next = attribute(python, callable, names.partial);
  else
    number =
        is_builtin(python, type) ? name_of_builtin(python, callable) : name_of_object(python, type);
  drop(python, type);
  return number;
}

static uint32_t
name_of(const td_python *python, void *callable) {
  uint32_t number = 0;
  void *at = callable;
  python->Py_IncRef(at);
  for (int i = 0; at && !number && i < STEPS_MAX; i++) {
    void *next = NULL;
    number = step(python, at, &next);
    drop(python, at);
    at = next;
  }
  drop(python, at);
  return number;
}

uint32_t
td_callables_name(const td_python *python, void *callable) {
  td_python_pending pending = td_python_put_away(python);
  make_names(python);
  uint32_t number = name_of(python, callable);
  td_python_give_back(python, pending);
  return number;
}
