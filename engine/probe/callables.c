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
  void *code, *qualified, *module, *function, *partial, *wrapped, *call, *name, *self, *of_class;
} names;

static void
make_names(void) {
  if (names.code) return;
  names.qualified = td_python_key("__qualname__");
  names.module = td_python_key("__module__");
  names.function = td_python_key("__func__");
  names.partial = td_python_key("func");
  names.wrapped = td_python_key("__wrapped__");
  names.call = td_python_key("__call__");
  names.name = td_python_key("__name__");
  names.self = td_python_key("__self__");
  names.of_class = td_python_key("__objclass__");
  names.code = td_python_key("__code__");
}

static void
drop(const td_python *python, void *object) {
  if (object) python->Py_DecRef(object);
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
  void *file = td_python_slot_named(code, "co_filename");
  void *line = td_python_slot_named(code, "co_firstlineno");
  const char *path = text_of(python, file);
  char *text = path && line
                   ? td_format("%s (%s:%lld)", name, short_path(path), td_python_number(line))
                   : td_dup_string(name);
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
  void *cells = td_python_slot_named(function, "__closure__"), *found = NULL;
  void *free_names = td_python_slot_named(code, "co_freevars");
  bool is_closure = cells && free_names && td_python_type_of(cells) == python->PyTuple_Type;
  td_python_size n = is_closure ? python->PyTuple_Size(cells) : 0;
  for (td_python_size i = 0; i < n && !found; i++) {
    const char *text = text_of(python, python->PyTuple_GetItem(free_names, i));
    if (text && strcmp(text, name) == 0)
      found = python->PyCell_Get(python->PyTuple_GetItem(cells, i));
  }
  drop(python, free_names);
  drop(python, cells);
  return found;
}

/* The only element of a list that an object has (owned), or NULL. */
static void *
only_one(const td_python *python, void *object, const char *list_name) {
  void *dict = td_python_own_dict(object), *list = td_python_item(dict, list_name), *one = NULL;
  bool is_list = list && td_python_type_of(list) == python->PyList_Type;
  if (is_list && python->PyList_Size(list) == 1) one = python->PyList_GetItem(list, 0);
  if (one) python->Py_IncRef(one);
  drop(python, dict);
  return one;
}

static bool
is_torchs(const td_python *python, void *function) {
  void *module = td_python_slot(function, names.module);
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
  void *code = td_python_slot(function, names.code);
  void *qualified = td_python_slot(function, names.qualified);
  uint32_t number = code ? find_known(code, qualified) : 0;
  if (code && (!number || number == GOES_ON)) {
    bool is_own = is_torchs(python, function);
    *next = td_python_slot(function, names.wrapped);
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

/* The class whose method it is (owned), or NULL: a function of a module. */
static void *
class_of_builtin(const td_python *python, void *object) {
  void *self = td_python_slot(object, names.self), *type = self ? td_python_type_of(self) : NULL;
  bool is_class = type && td_python_is_a(python, self, python->PyType_Type);
  if (is_class) return self;
  bool is_method = type && self != python->_Py_NoneStruct && type != python->PyModule_Type;
  if (is_method) python->Py_IncRef(type);
  drop(python, self);
  return is_method ? type : td_python_slot(object, names.of_class);
}

/* "module.Class.name" of what C has made. */
static uint32_t
name_of_builtin(const td_python *python, void *object) {
  void *module = td_python_slot(object, names.module), *name = td_python_slot(object, names.name);
  void *type = class_of_builtin(python, object);
  void *qualified = type ? td_python_class_slot(type, names.qualified) : NULL;
  const char *first = text_of(python, module), *last = text_of(python, name),
             *of = text_of(python, qualified);
  char *text = td_format("%s%s%s%s%s", first ? first : "", first ? "." : "", of ? of : "",
                         of ? "." : "", last ? last : "?");
  drop(python, qualified);
  drop(python, type);
  drop(python, module);
  drop(python, name);
  return intern_and_free(text);
}

static uint32_t
name_of_class(const td_python *python, void *type) {
  void *module = td_python_class_slot(type, names.module);
  void *qualified = td_python_class_slot(type, names.qualified);
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
  void *call = td_python_class_item(type, names.call), *code = td_python_slot(call, names.code);
  void *qualified = td_python_class_slot(type, names.qualified);
  const char *name = text_of(python, qualified);
  if (code && name) {
    char *method = td_format("%s.__call__", name);
    number = intern_and_free(name_with_place(python, method, code));
    free(method);
  } else {
    number = name_of_class(python, type);
  }
  remember(python, type, NULL, number);
  drop(python, qualified);
  drop(python, code);
  drop(python, call);
  return number;
}

static bool
is_builtin(const td_python *python, const void *type) {
  return type == python->PyCFunction_Type || type == python->PyMethodDescr_Type ||
         type == python->PyWrapperDescr_Type;
}

/* The number of the name, or 0 if it is that of *next (owned). */
static uint32_t
step(const td_python *python, void *callable, void **next) {
  void *type = td_python_type_of(callable);
  uint32_t number = 0;
  if (type == python->PyFunction_Type)
    number = name_of_function(python, callable, next);
  else if (type == python->PyMethod_Type)
    *next = td_python_slot(callable, names.function);
  else if (td_python_is_partial(type))
    *next = td_python_slot(callable, names.partial);
  else if (type == python->PyType_Type)
    number = name_of_class(python, callable);
  else
    number =
        is_builtin(python, type) ? name_of_builtin(python, callable) : name_of_object(python, type);
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
  td_python_pending pending = td_python_put_away();
  make_names();
  uint32_t number = name_of(python, callable);
  td_python_give_back(pending);
  return number;
}
