/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/gil.h"

#include "engine/base/relocations.h"
#include "engine/events/emit.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

/* A part of the process has one GIL, whose number is that of the process: a joined tape has
 * several.
 */
#define GIL_FIELDS .lock = TD_lock_kind_gil, .object = 0

static struct {
  _Atomic(pthread_mutex_t *) mutex; /* CPython's, around its GIL; NULL: not known */
  int holder;                       /* the kernel's id (guarded by *mutex) */
  _Atomic bool pauses;
  void *(*save_thread)(void); /* functions of Python */
  void (*restore_thread)(void *state), (*acquire_thread)(void *state);
  int (*ensure)(void);
  char *(*dup_name)(int tid);
} gil;

/* The calling thread. */
static _Thread_local struct {
  unsigned depth; /* of td_gil_enter */
  bool learns, waits, was_contended;
  uint32_t session; /* of its last wait */
  int named;        /* the holder that its wait was told of last, by the kernel's id */
  uint64_t begin;
} self __attribute__((tls_model("initial-exec")));

/* ---- waits: the mutex is held ---- */

static void
name_holder(uint64_t now) {
  self.named = gil.holder;
  uint32_t holder = gil.holder ? td_emit_meet_thread(gil.holder) : TD_NONE;
  if (holder != TD_NONE) TD_EMIT_AT(now, lock_held, GIL_FIELDS, .holder = holder);
}

static void
begin_wait(void) {
  self.begin = td_clock_now();
  self.session = td_emit_session();
  self.waits = true;
  TD_EMIT_AT(self.begin, lock_wait, GIL_FIELDS);
  name_holder(self.begin);
}

/* Python calls again if the wait took longer than its switch interval. Meanwhile another thread may
 * have taken the GIL. */
static void
go_on_waiting(void) {
  if (gil.holder == self.named || self.session != td_emit_session()) return;
  name_holder(td_clock_now());
}

static void
end_wait(void) {
  self.waits = false;
  self.was_contended = self.session == td_emit_session();
  uint64_t end = td_clock_ordered();
  if (self.was_contended) TD_EMIT_AT(end, lock_acquired, GIL_FIELDS, .waited = end - self.begin);
}

static void
tell_release(void) {
  self.was_contended = false;
  if (self.session == td_emit_session()) TD_EMIT_AT(td_clock_ordered(), lock_released, GIL_FIELDS);
}

static bool
counts(void) {
  return self.depth && td_recording() && !atomic_load_explicit(&gil.pauses, memory_order_relaxed);
}

/* ---- what Python calls instead ---- */

static int
timedwait_hook(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
  bool is_gil = mutex == atomic_load_explicit(&gil.mutex, memory_order_relaxed);
  if (is_gil && self.waits)
    go_on_waiting();
  else if (is_gil && counts())
    begin_wait();
  return pthread_cond_timedwait(condition, mutex, until);
}

/* The GIL has changed hands: taken or given back. */
static void
note_change(const pthread_mutex_t *mutex) {
  gil.holder = mutex->__data.__owner;
  if (TD_UNLIKELY(self.waits))
    end_wait();
  else if (TD_UNLIKELY(self.was_contended))
    tell_release();
}

static int
unlock_hook(pthread_mutex_t *mutex) {
  if (TD_UNLIKELY(self.learns)) atomic_store_explicit(&gil.mutex, mutex, memory_order_relaxed);
  if (mutex == atomic_load_explicit(&gil.mutex, memory_order_relaxed)) note_change(mutex);
  return pthread_mutex_unlock(mutex);
}

/* ---- threads that had the GIL get names: the GIL is held ---- */

static void
name_met(void) {
  if (TD_LIKELY(!atomic_load_explicit(&td_emit_n_unnamed, memory_order_relaxed))) return;
  int before = errno;
  td_emit_name_met(gil.dup_name);
  errno = before;
}

static void
restore_hook(void *state) {
  gil.restore_thread(state);
  name_met();
}

static void
acquire_hook(void *state) {
  gil.acquire_thread(state);
  name_met();
}

static int
ensure_hook(void) {
  int state = gil.ensure();
  name_met();
  return state;
}

/* ---- beginning ---- */

static bool
find_python(void) {
  gil.save_thread = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyEval_SaveThread");
  gil.restore_thread = (void (*)(void *))dlsym(RTLD_DEFAULT, "PyEval_RestoreThread");
  gil.acquire_thread = (void (*)(void *))dlsym(RTLD_DEFAULT, "PyEval_AcquireThread");
  gil.ensure = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
  bool has_no_gil = dlsym(RTLD_DEFAULT, "_Py_MergeZeroLocalRefcount");
  return gil.save_thread && gil.restore_thread && gil.acquire_thread && gil.ensure && !has_no_gil;
}

/* The mutex of the GIL is the last one that is unlocked when a thread takes the GIL. */
static void
learn_mutex(void) {
  self.learns = true;
  gil.restore_thread(gil.save_thread());
  self.learns = false;
}

void
td_gil_watch(const char *library, char *(*dup_name)(int tid)) {
  Dl_info where;
  struct link_map *python;
  size_t n;
  if (gil.dup_name || !find_python()) return;
  if (!dladdr1((void *)gil.save_thread, &where, (void **)&python, RTLD_DL_LINKMAP)) return;
  gil.dup_name = dup_name;
  const td_relocation relocations[] = {
      {python->l_name, "pthread_cond_timedwait", (void *)timedwait_hook, false},
      {python->l_name, "pthread_mutex_unlock", (void *)unlock_hook, false},
      {library, "PyEval_RestoreThread", (void *)restore_hook, false},
      {library, "PyEval_AcquireThread", (void *)acquire_hook, false},
      {library, "PyGILState_Ensure", (void *)ensure_hook, false},
      {0},
  };
  td_relocations_forget(td_relocations_point(relocations, &n));
  learn_mutex();
}

void
td_gil_tell(void) {
  bool is_watched = atomic_load_explicit(&gil.mutex, memory_order_relaxed);
  TD_EMIT(setting, .name = td_intern("gil"),
          .value = td_intern(is_watched ? "watched" : "not watched"));
}

void
td_gil_enter(void) {
  self.depth++;
}

void
td_gil_leave(void) {
  self.depth--;
}

void
td_gil_pause(bool pauses) {
  atomic_store_explicit(&gil.pauses, pauses, memory_order_relaxed);
}
