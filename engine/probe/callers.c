/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What Python calls its threads: the system's name is "python" for all of them. The threads that
 * Python started are in a dict of the module `threading`. */
#include "engine/probe/callers.h"
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/events/gil.h"
#include "engine/probe/probe.h"
#include "engine/probe/python.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static char *
dup_text(const td_python *python, void *text) {
  const char *words = td_python_text(python, text);
  return words && *words ? td_dup_string(words) : NULL;
}

static struct { void *id, *name; } keys; /* guarded by the GIL */

/* Is this the thread.Thread of the kernel's thread `tid`? */
static bool
is_thread(const td_python *python, void *thread, int tid) {
  void *number = td_python_own(thread, keys.id);
  bool is_it = number && td_python_number(number) == tid;
  if (number) python->Py_DecRef(number);
  return is_it;
}

static char *
dup_name_of(const td_python *python, void *thread) {
  void *name = td_python_own(thread, keys.name);
  char *text = dup_text(python, name);
  if (name) python->Py_DecRef(name);
  return text;
}

/* NULL for a thread that Python did not name. The GIL is held. */
static char *
dup_python_name(const td_python *python, int tid) {
  void *threads = td_python_module_item("threading", "_active");
  if (!keys.id) keys.id = td_python_key("_native_id");
  if (!keys.name) keys.name = td_python_key("_name");
  bool is_dict = threads && td_python_type_of(threads) == python->PyDict_Type;
  char *name = NULL;
  td_python_size at = 0;
  for (void *key, *thread; is_dict && !name && python->PyDict_Next(threads, &at, &key, &thread);)
    if (is_thread(python, thread, tid)) name = dup_name_of(python, thread);
  if (threads) python->Py_DecRef(threads);
  return name;
}

static char *
dup_own_name(void) {
  td_python_hold hold;
  const td_python *python = td_python_has_gil() ? td_python_find() : NULL;
  if (!python || !td_python_enter(python, &hold)) return NULL;
  char *name = dup_python_name(python, gettid());
  td_python_leave(python, hold);
  return name;
}

void
td_probe_name_caller(void) {
  char name[16] = "";
  bool is_main = gettid() == getpid();
  char *given = is_main ? NULL : dup_own_name();
  if (!given) pthread_getname_np(pthread_self(), name, sizeof name);
  td_emit_name_thread(is_main ? "main" : given ? given : name, TD_DEVICE_CPU);
  free(given);
}

/* Of a thread that never came into the engine. The GIL is held, and an exception may be on its way.
 */
static char *
dup_name_of_other_cb(int tid) {
  const td_python *python = td_python_find();
  if (tid == getpid() || !python) return td_dup_string("main");
  td_python_pending pending = td_python_put_away();
  char *name = dup_python_name(python, tid);
  td_python_give_back(pending);
  return name;
}

void
td_callers_watch_gil(void) {
  const td_python *python = td_python_has_gil() ? td_python_find() : NULL;
  if (!python) return;
  int state = python->PyGILState_Ensure();
  td_gil_watch("libtorch_python.so", dup_name_of_other_cb);
  python->PyGILState_Release(state);
}

void
td_probe_enter_pass(void) {
  td_gil_enter();
}

void
td_probe_leave_pass(void) {
  td_gil_leave();
}
