/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/python.h"

#include "engine/base/alloc.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define FILE_INPUT 257 /* Py_file_input */

static td_python found;
static bool is_found;

static void
find_once_cb(void) {
  bool whole = true;
#define PYTHON(result, name, arguments)                                                            \
  found.name = (result(*) arguments)dlsym(RTLD_DEFAULT, #name);                                    \
  whole = whole && found.name;
#define PYTHON_IF_THERE(result, name, arguments)                                                   \
  found.name = (result(*) arguments)dlsym(RTLD_DEFAULT, #name);
#define PYTHON_TYPE(name)                                                                          \
  found.name = dlsym(RTLD_DEFAULT, #name);                                                         \
  whole = whole && found.name;
#include "engine/probe/python_api.def"
#undef PYTHON_TYPE
#undef PYTHON_IF_THERE
#undef PYTHON
  is_found = whole;
}

const td_python *
td_python_find(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_once_cb);
  return is_found && found.Py_IsInitialized() ? &found : NULL;
}

bool
td_python_is_held(void) {
  const td_python *python = td_python_find();
  return python && python->PyGILState_Check();
}

static bool
is_ending(const td_python *python) {
  if (!python->Py_IsInitialized()) return true;
  if (python->Py_IsFinalizing) return python->Py_IsFinalizing();
  return python->_Py_IsFinalizing && python->_Py_IsFinalizing();
}

td_python_pending
td_python_put_away(const td_python *python) {
  td_python_pending pending;
  python->PyErr_Fetch(&pending.type, &pending.value, &pending.traceback);
  return pending;
}

void
td_python_give_back(const td_python *python, td_python_pending pending) {
  python->PyErr_Restore(pending.type, pending.value, pending.traceback);
}

const char *
td_python_text(const td_python *python, void *object) {
  if (!object || td_python_type_of(object) != python->PyUnicode_Type) return NULL;
  td_python_pending pending = td_python_put_away(python);
  const char *text = python->PyUnicode_AsUTF8(object);
  td_python_give_back(python, pending);
  return text;
}

bool
td_python_enter(const td_python *python, td_python_hold *hold) {
  *hold = (td_python_hold){0};
  if (is_ending(python) || !python->PyGILState_GetThisThreadState()) return false;
  hold->taken = !python->PyGILState_Check();
  if (hold->taken) hold->state = python->PyGILState_Ensure();
  hold->pending = td_python_put_away(python);
  return true;
}

void
td_python_leave(const td_python *python, td_python_hold hold) {
  td_python_give_back(python, hold.pending);
  if (hold.taken) python->PyGILState_Release(hold.state);
}

char *
td_python_error(const td_python *python) {
  void *type = NULL, *value = NULL, *traceback = NULL;
  python->PyErr_Fetch(&type, &value, &traceback);
  python->PyErr_NormalizeException(&type, &value, &traceback);
  void *text = value ? python->PyObject_Str(value) : NULL;
  const char *words = td_python_text(python, text);
  char *result = td_dup_string(words && *words ? words : "an exception without words");
  python->PyErr_Clear();
  python->Py_DecRef(text);
  python->Py_DecRef(type);
  python->Py_DecRef(value);
  python->Py_DecRef(traceback);
  return result;
}

/* The text of an attribute that is one, or NULL; the caller frees. */
static char *
text_attribute(const td_python *python, void *object, const char *name) {
  void *value = python->PyObject_GetAttrString(object, name);
  const char *text = td_python_text(python, value);
  char *copy = text ? td_dup_string(text) : NULL;
  python->PyErr_Clear();
  if (value) python->Py_DecRef(value);
  return copy;
}

/* An object begins with its reference count and its type. The type of nearly every type is `type`.
 */
bool
td_python_is_object(const td_python *python, const void *object) {
  const void *words[2], *at = object;
  int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < 2 && at; i++)
    at = pread(memory, words, sizeof words, (off_t)(uintptr_t)at) == sizeof words ? words[1] : NULL;
  if (memory >= 0) close(memory);
  return at && at == python->PyType_Type;
}

bool
td_python_is_a(const td_python *python, void *object, void *type) {
  void *own = td_python_type_of(object);
  return own == type || python->PyType_IsSubtype(own, type);
}

bool
td_python_has_gil(void) {
  return !dlsym(RTLD_DEFAULT, "_Py_MergeZeroLocalRefcount");
}

char *
td_python_class_name(const td_python *python, void *object) {
  char *name = text_attribute(python, td_python_type_of(object), "__name__");
  return name ? name : td_dup_string("?");
}

void *
td_python_module_item(const td_python *python, const char *module, const char *name) {
  void *found_module = python->PyDict_GetItemString(python->PyImport_GetModuleDict(), module);
  void *item = found_module ? python->PyObject_GetAttrString(found_module, name) : NULL;
  if (!item) python->PyErr_Clear();
  return item;
}

static bool
set_name(const td_python *python, void *names, const char *name, void *value) {
  bool done = value && python->PyDict_SetItemString(names, name, value) == 0;
  if (value) python->Py_DecRef(value);
  return done;
}

static void *
make_names(const td_python *python, td_python_method *methods) {
  void *names = python->PyDict_New(), *builtins = python->PyEval_GetBuiltins();
  python->PyDict_SetItemString(names, "__builtins__", builtins);
  set_name(python, names, "__name__", python->PyUnicode_FromString("tapedeck_probe"));
  for (td_python_method *method = methods; method->name; method++)
    set_name(python, names, method->name, python->PyCFunction_NewEx(method, NULL, NULL));
  return names;
}

void *
td_python_run(const td_python *python, const char *source, const char *name,
              td_python_method *methods, char **reason) {
  void *names = make_names(python, methods);
  void *code = python->Py_CompileString(source, name, FILE_INPUT);
  void *result = code ? python->PyEval_EvalCode(code, names, names) : NULL;
  if (!result) *reason = td_python_error(python);
  if (code) python->Py_DecRef(code);
  if (result) {
    python->Py_DecRef(result);
    return names;
  }
  python->Py_DecRef(names);
  return NULL;
}
