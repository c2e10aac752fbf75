/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What Python calls its threads: the system's name is "python" for all of them. The threads that
 * Python started are in a dict of the module `threading`, by the system's number. */
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/probe/probe.h"
#include "engine/probe/python.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static char *
dup_text(const td_python *python, void *text) {
  const char *words = text && td_python_type_of(text) == python->PyUnicode_Type
                          ? python->PyUnicode_AsUTF8(text)
                          : NULL;
  char *copy = words && *words ? td_dup_string(words) : NULL;
  python->PyErr_Clear();
  return copy;
}

static char *
dup_name_holding_gil(const td_python *python) {
  void *threads = td_python_module_item(python, "threading", "_active");
  void *number = python->PyLong_FromUnsignedLongLong((unsigned long long)pthread_self());
  bool is_dict = threads && td_python_type_of(threads) == python->PyDict_Type;
  void *thread = is_dict ? python->PyDict_GetItem(threads, number) : NULL;
  void *name = thread ? python->PyObject_GetAttrString(thread, "_name") : NULL;
  char *text = dup_text(python, name);
  if (name) python->Py_DecRef(name);
  if (threads) python->Py_DecRef(threads);
  python->Py_DecRef(number);
  return text;
}

/* NULL for a thread that Python did not name. */
static char *
dup_python_name(void) {
  td_python_hold hold;
  const td_python *python = td_python_has_gil() ? td_python_find() : NULL;
  if (!python || !td_python_enter(python, &hold)) return NULL;
  char *name = dup_name_holding_gil(python);
  td_python_leave(python, hold);
  return name;
}

void
td_probe_name_caller(void) {
  char name[16] = "";
  bool is_main = gettid() == getpid();
  char *given = is_main ? NULL : dup_python_name();
  if (!given) pthread_getname_np(pthread_self(), name, sizeof name);
  td_emit_name_thread(is_main ? "main" : given ? given : name, TD_DEVICE_CPU);
  free(given);
}
