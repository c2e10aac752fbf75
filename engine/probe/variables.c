/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Locals]
 * Problem: the names of a function's locals are in its code, and the values in its frame. The
 * frame's f_locals has both, but it is a copy that lives as long as the frame. The copy would keep
 * tensors alive.
 *
 * Constraint: PyFrame_GetVar makes no copy, but came with Python 3.12.
 *
 * Trick: Python 3.11 keeps the values in an array behind the interpreter's frame. The words before
 * that array must be the frame, its code and its globals. Otherwise nothing is read. */
#include "engine/probe/variables.h"

#include "engine/base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 256
#define CODE_IS_OPTIMIZED 1 /* of co_flags: locals are in the frame, not in a dict */

typedef struct walk {
  const td_python *python;
  td_variable_visit visit;
  void *data;
} walk;

static bool visit_value(const walk *self, const td_variable *variable, int depth);

static bool
visit_dict(const walk *self, const td_variable *of, void *dict, int depth) {
  td_python_size at = 0;
  void *key, *value;
  for (int n = 0; n < ELEMENTS_MAX && self->python->PyDict_Next(dict, &at, &key, &value); n++) {
    const char *name = td_python_text(self->python, key);
    td_variable child = {.of = of, .name = name, .value = value};
    if (name && !visit_value(self, &child, depth)) return false;
  }
  return true;
}

static bool
visit_elements(const walk *self, const td_variable *of, bool is_list) {
  const td_python *python = self->python;
  td_python_size n = is_list ? python->PyList_Size(of->value) : python->PyTuple_Size(of->value);
  for (td_python_size i = 0; i < TD_MIN(n, ELEMENTS_MAX); i++) {
    void *value =
        is_list ? python->PyList_GetItem(of->value, i) : python->PyTuple_GetItem(of->value, i);
    if (!value) break;
    if (!visit_value(self, &(td_variable){.of = of, .index = i, .value = value}, 0)) return false;
  }
  return true;
}

/* The attributes in the object's own dict; `self` alone, so that few objects are looked into. */
static bool
visit_attributes(const walk *self, const td_variable *of) {
  void *dict = td_python_own_dict(of->value);
  if (!dict) return true;
  bool go_on = visit_dict(self, of, dict, 1);
  self->python->Py_DecRef(dict);
  return go_on;
}

/* The value, and to a depth what is in it. */
static bool
visit_value(const walk *self, const td_variable *variable, int depth) {
  const td_python *python = self->python;
  if (!variable->value) return true;
  if (!self->visit(variable, self->data)) return false;
  if (depth == 0) return true;
  if (!variable->of && strcmp(variable->name, "self") == 0) return visit_attributes(self, variable);
  void *type = td_python_type_of(variable->value);
  if (type == python->PyList_Type || type == python->PyTuple_Type)
    return visit_elements(self, variable, type == python->PyList_Type);
  if (type == python->PyDict_Type && strncmp(variable->name, "__", 2) != 0)
    return visit_dict(self, variable, variable->value, 0);
  return true;
}

/* The array of values in a frame of Python 3.11, or NULL. See Note [Locals]. */
static void *const *
values_of_3_11(const td_python *python, void *frame, const void *code) {
  enum { GLOBALS = 1, CODE = 4, FRAME = 5, VALUES = 9 };
  if (strncmp(python->Py_GetVersion(), "3.11.", 5) != 0) return NULL;
  void *const *inner = ((void **)frame)[3];
  void *globals = td_python_slot_named(frame, "f_globals");
  if (globals) python->Py_DecRef(globals);
  if (!inner || !globals || inner[GLOBALS] != globals || inner[CODE] != code ||
      inner[FRAME] != frame)
    return NULL;
  return inner + VALUES;
}

/* A local, owned; NULL if it has no value now. */
static void *
local_value(const td_python *python, void *frame, void *const *values, td_python_size i,
            void *name) {
  if (!values) return td_python_local(frame, name);
  void *value = values[i];
  if (value && td_python_type_of(value) == python->PyCell_Type) return python->PyCell_Get(value);
  if (value) python->Py_IncRef(value);
  return value;
}

static bool
contains(const td_python *python, void *names, td_python_size n, void *name) {
  for (td_python_size i = 0; i < n; i++)
    if (python->PyTuple_GetItem(names, i) == name) return true;
  return false;
}

/* Locals, then the variables that inner functions share, then those of outer functions: the order
 * in which the frame has their values. A shared argument stands among the locals alone. */
static bool
each_local(const walk *self, void *frame, void *code) {
  const td_python *python = self->python;
  static const char *const lists[] = {"co_varnames", "co_cellvars", "co_freevars"};
  void *const *values = td_python_has_locals() ? NULL : values_of_3_11(python, frame, code);
  void *locals = td_python_slot_named(code, lists[0]);
  bool go_on = locals != NULL;
  td_python_size n_locals = locals ? python->PyTuple_Size(locals) : 0, at = 0;
  for (size_t list = 0; list < TD_N_ELEMENTS(lists) && go_on; list++) {
    void *names = td_python_slot_named(code, lists[list]);
    td_python_size n = names ? python->PyTuple_Size(names) : 0;
    for (td_python_size i = 0; i < n && go_on; i++) {
      void *name = python->PyTuple_GetItem(names, i);
      if (list == 1 && contains(python, locals, n_locals, name)) continue;
      td_variable variable = {.name = td_python_text(python, name)};
      variable.value = local_value(python, frame, values, at++, name);
      if (!variable.value) continue;
      go_on = !variable.name || visit_value(self, &variable, 2);
      python->Py_DecRef(variable.value);
    }
    if (names) python->Py_DecRef(names);
  }
  if (locals) python->Py_DecRef(locals);
  return go_on;
}

static bool
has_own_locals(const td_python *python, void *code) {
  void *flags = td_python_slot_named(code, "co_flags");
  long long bits = td_python_number(flags);
  if (flags) python->Py_DecRef(flags);
  return bits & CODE_IS_OPTIMIZED;
}

static bool
each_global(const walk *self, void *frame) {
  const td_python *python = self->python;
  void *globals = td_python_slot_named(frame, "f_globals"), *key, *value;
  td_python_size at = 0;
  bool go_on = true;
  while (globals && go_on && python->PyDict_Next(globals, &at, &key, &value)) {
    td_variable variable = {.name = td_python_text(python, key), .value = value};
    if (variable.name) go_on = visit_value(self, &variable, 2);
  }
  if (globals) python->Py_DecRef(globals);
  return go_on;
}

bool
td_variables_each(const td_python *python, void *frame, bool only_locals, td_variable_visit visit,
                  void *data) {
  walk self = {python, visit, data};
  void *code = python->PyFrame_GetCode(frame);
  bool go_on = !has_own_locals(python, code) || each_local(&self, frame, code);
  python->Py_DecRef(code);
  return go_on && (only_locals || each_global(&self, frame));
}

/* The folder of PyTorch's Python files, with its slash; found once. */
static const char *
torch_folder(const td_python *python) {
  static char *folder;
  if (folder) return folder;
  void *file = td_python_module_item("torch", "__file__");
  const char *path = td_python_text(python, file);
  const char *slash = path ? strrchr(path, '/') : NULL;
  if (slash) folder = td_format("%.*s", (int)(slash + 1 - path), path);
  if (file) python->Py_DecRef(file);
  return folder ? folder : "<torch>";
}

static bool
begins_with(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

bool
td_variables_is_foreign(const td_python *python, void *frame) {
  void *code = python->PyFrame_GetCode(frame);
  void *file = td_python_slot_named(code, "co_filename");
  const char *path = td_python_text(python, file);
  bool foreign = !path || begins_with(path, torch_folder(python)) ||
                 begins_with(path, "<tapedeck") || begins_with(path, "<frozen");
  if (file) python->Py_DecRef(file);
  python->Py_DecRef(code);
  return foreign;
}

void *
td_variables_outer(const td_python *python, void *frame, void **held) {
  void *back = python->PyFrame_GetBack(frame);
  if (*held) python->Py_DecRef(*held);
  return *held = back;
}

typedef struct wanted {
  const char *name;
  void *value;
} wanted;

static bool
is_wanted(const td_variable *variable, void *data) {
  wanted *self = data;
  if (variable->of || strcmp(variable->name, self->name) != 0) return true;
  self->value = variable->value;
  return false;
}

void *
td_variables_local(const td_python *python, void *frame, const char *name) {
  wanted wanted = {name, NULL};
  td_variables_each(python, frame, true, is_wanted, &wanted);
  return wanted.value;
}

/* An attribute of `self` is called by the class, because every method has a `self`. */
char *
td_variable_text(const td_python *python, const td_variable *variable) {
  if (!variable->of && strcmp(variable->name, "self") == 0)
    return td_python_class_name(variable->value);
  if (!variable->of) return td_dup_string(variable->name);
  char *of = td_variable_text(python, variable->of);
  bool is_key = variable->name && td_python_type_of(variable->of->value) == python->PyDict_Type;
  char *text = is_key           ? td_format("%s['%s']", of, variable->name)
               : variable->name ? td_format("%s.%s", of, variable->name)
                                : td_format("%s[%td]", of, variable->index);
  free(of);
  return text;
}
