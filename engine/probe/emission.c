/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an observer cannot do itself: engine/events/emit.h is C11, which C++ does not read. */
#include "engine/base/alloc.h"
#include "engine/control/gate.h"
#include "engine/events/core_waits.h"
#include "engine/events/emit.h"
#include "engine/events/lock.h"
#include "engine/probe/callables.h"
#include "engine/probe/deadly.h"
#include "engine/probe/own_time.h"
#include "engine/probe/probe.h"
#include "engine/probe/python.h"

#include <stdlib.h>

uint32_t td_probe_session, td_probe_watching;

void
td_probe_guard(pthread_mutex_t *mutex, td_fork_rank rank) {
  td_fork_guard(mutex, rank);
}

const td_probe_forks td_probe_fork = {td_fork_before, td_fork_after, td_fork_after_in_child};

void *
td_probe_alloc(size_t n_bytes) {
  return td_realloc(NULL, n_bytes, 1);
}

/* Makes the calling thread's ring, which takes long for the first one. */
static bool
has_ring(void) {
  if (td_emit_ring) return true;
  td_own_time time = td_own_begin();
  bool has = td_emit_thread_id() != TD_NONE;
  td_own_end(time, TD_recorder_work_memory);
  return has;
}

td_ring *
td_probe_ring(void) {
  if (!td_recording() || !has_ring()) return NULL;
  td_deadly_arm_thread();
  td_emit_last_time(); /* the observer borrows last_time: it shall be of this recording */
  return td_emit_ring;
}

td_ring *
td_probe_make_room(size_t size) {
  td_own_time time = td_own_begin();
  td_ring *ring = td_emit_make_room(size);
  td_own_end(time, TD_recorder_work_memory);
  /* That may have told of it, and taken what room there was. */
  return ring && ring->head + size > ring->limit ? td_emit_make_room(size) : ring;
}

void
td_probe_note_error(uint32_t node) {
  td_gate_note(TD_TROUBLE_ERROR, node);
}

uint32_t
td_probe_thread(void) {
  return td_emit_thread_id();
}

uint32_t
td_probe_lock_holder(const pthread_mutex_t *mutex) {
  return td_lock_holder(mutex);
}

void
td_probe_begin_core(void) {
  td_core_begin();
}

void
td_probe_meet_core(void) {
  td_core_meet();
}

void
td_probe_look_at_core(void) {
  td_core_look();
}

void
td_probe_name_thread(const char *name, int32_t device) {
  td_emit_name_thread(name, device);
}

void
td_probe_name_device(int32_t device, const char *name) {
  td_emit_device(device, name);
}

uint32_t
td_probe_intern(const char *text) {
  return td_intern(text);
}

uint32_t
td_probe_name_hook(void *callable) {
  const td_python *python = td_python_find();
  return python ? td_callables_name(python, callable) : 0;
}

uint32_t
td_probe_intern_callable(const void *object) {
  td_python_hold hold;
  const td_python *python = td_python_find();
  if (!python || !td_python_is_object(python, object) || !td_python_enter(python, &hold)) return 0;
  uint32_t number = td_callables_name(python, (void *)object);
  td_python_leave(python, hold);
  return number;
}

const bool *const td_probe_has_counter = &td_clock_has_counter;

_Static_assert(sizeof td_gate_armed == sizeof(bool), "an observer reads it as a bool");
const bool *const td_probe_gate = (const bool *)&td_gate_armed;

void
td_probe_poll(td_event_kind kind, uint32_t node, uint32_t graph_task, const char *name) {
  td_gate_pass(&(td_gate_point){kind, node, graph_task, name});
}
