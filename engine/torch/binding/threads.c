/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/binding/threads.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/events/gil.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

void
tdpy_thread_name(void) {
  if (!td_recording() || td_emit_thread_has_name()) return;
  PyObject *threading = PyImport_ImportModule("threading");
  PyObject *thread = threading ? PyObject_CallMethod(threading, "current_thread", NULL) : NULL;
  PyObject *name = thread ? PyObject_GetAttrString(thread, "name") : NULL;
  const char *words = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
  if (words) td_emit_name_thread(words, TD_DEVICE_CPU);
  Py_XDECREF(name);
  Py_XDECREF(thread);
  Py_XDECREF(threading);
  PyErr_Clear();
}

/* The name of a threading.Thread, if it is the kernel's thread `tid`. */
static char *
dup_name_if(PyObject *thread, int tid) {
  PyObject *number = PyObject_GetAttrString(thread, "native_id");
  bool is_it = number && PyLong_Check(number) && PyLong_AsLong(number) == tid;
  PyObject *name = is_it ? PyObject_GetAttrString(thread, "name") : NULL;
  const char *words = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
  char *copy = words ? td_dup_string(words) : NULL;
  Py_XDECREF(name);
  Py_XDECREF(number);
  PyErr_Clear();
  return copy;
}

static char *
dup_name(int tid) {
  PyObject *module = PyUnicode_FromString("threading");
  PyObject *threading = module ? PyImport_GetModule(module) : NULL;
  PyObject *threads = threading ? PyObject_GetAttrString(threading, "_active") : NULL;
  char *name = NULL;
  Py_ssize_t at = 0;
  for (PyObject *key, *thread;
       threads && PyDict_Check(threads) && !name && PyDict_Next(threads, &at, &key, &thread);)
    name = dup_name_if(thread, tid);
  Py_XDECREF(threads);
  Py_XDECREF(threading);
  Py_XDECREF(module);
  return name;
}

/* An exception may be on its way. */
static char *
dup_name_cb(int tid) {
  PyObject *type, *value, *traceback;
  if (tid == getpid()) return td_dup_string("main");
  PyErr_Fetch(&type, &value, &traceback);
  char *name = dup_name(tid);
  PyErr_Restore(type, value, traceback);
  return name;
}

void
tdpy_threads_watch_gil(void) {
  Dl_info where;
  struct link_map *self;
  if (dladdr1((void *)tdpy_threads_watch_gil, &where, (void **)&self, RTLD_DL_LINKMAP))
    td_gil_watch(self->l_name, dup_name_cb);
  td_gil_tell();
}
