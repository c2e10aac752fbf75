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
size_t td_python_type_word = 1;

/* What may run code of the program, or leave an exception. */
static struct {
#define PYTHON(result, name, arguments)
#define PYTHON_IF_THERE PYTHON
#define PYTHON_DOOR(result, name, arguments) result(*name) arguments;
#define PYTHON_DOOR_IF_THERE PYTHON_DOOR
#define PYTHON_TYPE(name)
#include "engine/probe/python_api.def"
#undef PYTHON_TYPE
#undef PYTHON_DOOR_IF_THERE
#undef PYTHON_DOOR
#undef PYTHON_IF_THERE
#undef PYTHON
} door;

static void
find_once_cb(void) {
  bool whole = true;
#define FIND(table, result, name, arguments)                                                       \
  table.name = (result(*) arguments)dlsym(RTLD_DEFAULT, #name)
#define PYTHON(result, name, arguments)                                                            \
  FIND(found, result, name, arguments);                                                            \
  whole = whole && found.name;
#define PYTHON_IF_THERE(result, name, arguments) FIND(found, result, name, arguments);
#define PYTHON_DOOR(result, name, arguments)                                                       \
  FIND(door, result, name, arguments);                                                             \
  whole = whole && door.name;
#define PYTHON_DOOR_IF_THERE(result, name, arguments) FIND(door, result, name, arguments);
#define PYTHON_TYPE(name)                                                                          \
  found.name = dlsym(RTLD_DEFAULT, #name);                                                         \
  whole = whole && found.name;
#include "engine/probe/python_api.def"
#undef PYTHON_TYPE
#undef PYTHON_DOOR_IF_THERE
#undef PYTHON_DOOR
#undef PYTHON_IF_THERE
#undef PYTHON
#undef FIND
  if (!td_python_has_gil()) td_python_type_word = 3;
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
td_python_put_away(void) {
  td_python_pending pending;
  door.PyErr_Fetch(&pending.type, &pending.value, &pending.traceback);
  return pending;
}

void
td_python_give_back(td_python_pending pending) {
  door.PyErr_Restore(pending.type, pending.value, pending.traceback);
}

bool
td_python_enter(const td_python *python, td_python_hold *hold) {
  *hold = (td_python_hold){0};
  if (is_ending(python) || !python->PyGILState_GetThisThreadState()) return false;
  hold->taken = !python->PyGILState_Check();
  if (hold->taken) hold->state = python->PyGILState_Ensure();
  hold->pending = td_python_put_away();
  return true;
}

void
td_python_leave(const td_python *python, td_python_hold hold) {
  td_python_give_back(hold.pending);
  if (hold.taken) python->PyGILState_Release(hold.state);
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

/* ---- reading ---- */

static void
drop(void *object) {
  if (object) found.Py_DecRef(object);
}

static void *
or_clear(void *object) {
  if (!object) door.PyErr_Clear();
  return object;
}

const char *
td_python_text(const td_python *python, void *object) {
  if (!object || td_python_type_of(object) != python->PyUnicode_Type) return NULL;
  td_python_pending pending = td_python_put_away();
  const char *text = door.PyUnicode_AsUTF8(object);
  td_python_give_back(pending);
  return text;
}

static bool
is_number(void *object) {
  return object && td_python_is_a(&found, object, found.PyLong_Type);
}

long long
td_python_number(void *object) {
  long long number = is_number(object) ? door.PyLong_AsLongLong(object) : 0;
  if (number == -1) door.PyErr_Clear();
  return number;
}

uint64_t
td_python_bits(void *object) {
  return is_number(object) ? door.PyLong_AsUnsignedLongLongMask(object) : 0;
}

bool
td_python_is_true(void *object) {
  return object == found._Py_TrueStruct;
}

void *
td_python_key(const char *name) {
  return or_clear(door.PyUnicode_InternFromString(name));
}

bool
td_python_is_partial(const void *type) {
  static void *partial;
  if (!partial) partial = td_python_module_item("functools", "partial");
  return type == partial;
}

/* Their attributes are in slots, or in a dict of their own: no class of the program is above them.
 */
static bool
has_slots(void *object) {
  const void *type = td_python_type_of(object);
  return type == found.PyFunction_Type || type == found.PyMethod_Type ||
         type == found.PyCode_Type || type == found.PyFrame_Type ||
         type == found.PyCFunction_Type || type == found.PyMethodDescr_Type ||
         type == found.PyWrapperDescr_Type || td_python_is_partial(type);
}

void *
td_python_slot(void *object, void *key) {
  return object && key && has_slots(object) ? or_clear(door.PyObject_GetAttr(object, key)) : NULL;
}

void *
td_python_slot_named(void *object, const char *name) {
  return object && has_slots(object) ? or_clear(door.PyObject_GetAttrString(object, name)) : NULL;
}

void *
td_python_own_dict(void *object) {
  return or_clear(door.PyObject_GenericGetDict(object, NULL));
}

void *
td_python_own(void *object, void *key) {
  void *dict = object && key ? td_python_own_dict(object) : NULL;
  void *item = dict ? door.PyDict_GetItem(dict, key) : NULL;
  if (item) found.Py_IncRef(item);
  drop(dict);
  return item;
}

void *
td_python_item(void *dict, const char *name) {
  bool is_dict = dict && td_python_type_of(dict) == found.PyDict_Type;
  return is_dict ? door.PyDict_GetItemString(dict, name) : NULL;
}

bool
td_python_set(void *dict, const char *name, void *value) {
  bool done = dict && value && door.PyDict_SetItemString(dict, name, value) == 0;
  if (!done) door.PyErr_Clear();
  return done;
}

void
td_python_empty(void *tuple, td_python_size at) {
  void *none = door.PyTuple_New(0);
  if (!none || door.PyTuple_SetItem(tuple, at, none)) door.PyErr_Clear();
}

/* A type has its name in C: behind its module for a type of C's. */
char *
td_python_class_name(void *object) {
  const char **words = td_python_type_of(object); /* ..., type, size, name */
  const char *name = words[td_python_type_word + 2];
  const char *dot = strrchr(name, '.');
  return td_dup_string(dot ? dot + 1 : name);
}

void *
td_python_class_item(void *type, void *key) {
  void *item = key && door._PyType_Lookup ? door._PyType_Lookup(type, key) : NULL;
  if (item) found.Py_IncRef(item);
  return item;
}

/* What a slot of a class has for an object (owned), or NULL. */
static void *
read_slot(void *type, void *key, void *object) {
  void *slot = td_python_class_item(type, key);
  const void *kind = slot ? td_python_type_of(slot) : NULL;
  bool is_cs = kind && (kind == found.PyGetSetDescr_Type || kind == found.PyMemberDescr_Type);
  void *value = is_cs ? or_clear(door.PyObject_CallMethod(slot, "__get__", "O", object)) : NULL;
  drop(slot);
  return value;
}

void *
td_python_class_slot(void *type, void *key) {
  return read_slot(found.PyType_Type, key, type);
}

void *
td_python_c_attribute(void *object, void *key) {
  return object && key ? read_slot(td_python_type_of(object), key, object) : NULL;
}

void *
td_python_c_call(void *object, void *key) {
  void *method = object && key ? td_python_class_item(td_python_type_of(object), key) : NULL;
  const void *kind = method ? td_python_type_of(method) : NULL;
  bool is_cs = kind && (kind == found.PyMethodDescr_Type || kind == found.PyInstanceMethod_Type);
  void *result = is_cs ? or_clear(td_python_call_with(method, object, NULL)) : NULL;
  drop(method);
  return result;
}

void *
td_python_c_function(void *function) {
  bool is_cs = function && td_python_type_of(function) == found.PyCFunction_Type;
  return is_cs ? or_clear(td_python_call_with(function, NULL, NULL)) : NULL;
}

void *
td_python_subclasses(void *type) {
  return or_clear(door.PyObject_CallMethod(found.PyType_Type, "__subclasses__", "O", type));
}

void *
td_python_module_item(const char *module, const char *name) {
  void *found_module = td_python_item(door.PyImport_GetModuleDict(), module);
  void *key = found_module ? or_clear(door.PyUnicode_FromString(name)) : NULL;
  void *item = td_python_own(found_module, key);
  drop(key);
  return item;
}

void *
td_python_local(void *frame, void *name) {
  return door.PyFrame_GetVar ? or_clear(door.PyFrame_GetVar(frame, name)) : NULL;
}

bool
td_python_has_locals(void) {
  return door.PyFrame_GetVar != NULL;
}

void *
td_python_weak(void *object, void *callback) {
  return or_clear(door.PyWeakref_NewRef(object, callback));
}

/* ---- running ---- */

void *
td_python_call(void *callable, void *arguments, void *keywords) {
  return door.PyObject_Call(callable, arguments, keywords);
}

void *
td_python_call_with(void *callable, void *one, void *two) {
  return door.PyObject_CallFunctionObjArgs(callable, one, two, NULL);
}

void *
td_python_call_method(void *object, const char *name, void *arguments) {
  void *method = door.PyObject_GetAttrString(object, name);
  bool has_any = method && arguments;
  void *result = has_any  ? door.PyObject_Call(method, arguments, NULL)
                 : method ? door.PyObject_CallFunctionObjArgs(method, NULL)
                          : NULL;
  drop(method);
  return result;
}

td_python_pending
td_python_catch(void) {
  td_python_pending pending = td_python_put_away();
  door.PyErr_NormalizeException(&pending.type, &pending.value, &pending.traceback);
  return pending;
}

bool
td_python_was_too_deep(void) {
  td_python_pending pending = td_python_put_away();
  bool was = pending.type && pending.type == *(void **)found.PyExc_RecursionError;
  if (!was) td_python_give_back(pending);
  if (!was) return false;
  drop(pending.type);
  drop(pending.value);
  drop(pending.traceback);
  return true;
}

void
td_python_raise(void *exception) {
  door.PyErr_SetObject(td_python_type_of(exception), exception);
}

static int
raise_cb(void *exception) {
  td_python_raise(exception);
  found.Py_DecRef(exception);
  return -1;
}

void
td_python_raise_later(const td_python *python) {
  td_python_pending pending = td_python_catch();
  bool is_kept = pending.value && door.Py_AddPendingCall(raise_cb, pending.value) == 0;
  if (!is_kept) drop(pending.value);
  drop(pending.type);
  drop(pending.traceback);
}

/* The pending exception in words, which is taken away. Only our own texts get here. */
static char *
take_error(void) {
  td_python_pending pending = td_python_catch();
  void *text = pending.value ? or_clear(door.PyObject_Str(pending.value)) : NULL;
  const char *words = td_python_text(&found, text);
  char *result = td_dup_string(words && *words ? words : "an exception without words");
  drop(text);
  drop(pending.type);
  drop(pending.value);
  drop(pending.traceback);
  return result;
}

static void
set_name(void *names, const char *name, void *value) {
  td_python_set(names, name, value);
  drop(value);
}

static void *
make_names(td_python_method *methods) {
  void *names = found.PyDict_New();
  td_python_set(names, "__builtins__", door.PyEval_GetBuiltins());
  set_name(names, "__name__", or_clear(door.PyUnicode_FromString("tapedeck_probe")));
  for (td_python_method *method = methods; method->name; method++)
    set_name(names, method->name, found.PyCFunction_NewEx(method, NULL, NULL));
  return names;
}

void *
td_python_run(const td_python *python, const char *source, const char *name,
              td_python_method *methods, char **reason) {
  void *names = make_names(methods);
  void *code = door.Py_CompileString(source, name, FILE_INPUT);
  void *result = code ? door.PyEval_EvalCode(code, names, names) : NULL;
  if (!result) *reason = take_error();
  drop(code);
  drop(result);
  if (result) return names;
  drop(names);
  return NULL;
}
