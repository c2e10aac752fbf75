/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/markers.h"

#include "engine/base/alloc.h"
#include "engine/events/cuts.h"
#include "engine/events/emit.h"
#include "engine/probe/probe.h"
#include "engine/probe/python.h"
#include "engine/probe/stacks.h"
#include "engine/probe/steps.h"

#include <stddef.h>
#include <stdlib.h>

#define CLASSES_MAX 1000 /* of optimizers */

static const td_python *python;
static void (*tell)(uint32_t marker);
static void (*tell_of_rank)(int32_t rank);
static void *names; /* (owned) of markers.py */

static void *
none(void) {
  return python->Py_BuildValue("");
}

/* tell_optimizer(number) */
static void *
tell_optimizer(void *self, void *const *arguments, td_python_size n) {
  if (n != 1) return none();
  uint32_t number = (uint32_t)td_python_number(arguments[0]);
  if (td_probe_is_on()) TD_EMIT(optimizer_step, .optimizer = number);
  tell(TD_MARKER_OPTIMIZER + number);
  return none();
}

/* A parameter's name, or its number among those of its optimizer. */
static uint32_t
intern_name(uint32_t name, void *number) {
  if (name) return name;
  char *text = td_format("parameter %lld", td_python_number(number));
  name = td_intern(text);
  free(text);
  return name;
}

/* tell_parameter(address, number, optimizer) */
static void *
tell_parameter(void *self, void *const *arguments, td_python_size n) {
  if (n != 3) return none();
  const void *tensor = (const void *)(uintptr_t)td_python_number(arguments[0]);
  TD_EMIT(optimizes, .optimizer = (uint32_t)td_python_number(arguments[2]),
          .name = intern_name(td_stacks_label(tensor), arguments[1]));
  return none();
}

/* tell_no_gradient(address, number, is_last): the address is that of a parameter's tensor. One that
 * has no name yet is told of the last time. */
static void *
tell_no_gradient(void *self, void *const *arguments, td_python_size n) {
  if (n != 3) return none();
  const void *tensor = (const void *)(uintptr_t)td_python_number(arguments[0]);
  uint32_t name = td_stacks_label(tensor);
  if (!name && !td_python_number(arguments[2])) return none();
  td_cut cut = td_cuts_find((uintptr_t)tensor);
  TD_EMIT(no_gradient, .name = intern_name(name, arguments[1]), .cut = cut.kind,
          .stack = cut.stack);
  return none();
}

/* tell_profiler() */
static void *
tell_profiler(void *self, void *const *arguments, td_python_size n) {
  tell(TD_MARKER_PROFILER);
  return none();
}

/* tell_rank(rank) */
static void *
tell_rank(void *self, void *const *arguments, td_python_size n) {
  if (n == 1) tell_of_rank((int32_t)td_python_number(arguments[0]));
  return none();
}

static td_python_method methods[] = {
    {"tell_optimizer", tell_optimizer, TD_PYTHON_FASTCALL, NULL},
    {"tell_profiler", tell_profiler, TD_PYTHON_FASTCALL, NULL},
    {"tell_parameter", tell_parameter, TD_PYTHON_FASTCALL, NULL},
    {"tell_no_gradient", tell_no_gradient, TD_PYTHON_FASTCALL, NULL},
    {"tell_rank", tell_rank, TD_PYTHON_FASTCALL, NULL},
    {0},
};

void
td_markers_start(void (*mark)(uint32_t marker), void (*note_rank)(int32_t rank)) {
  char *reason = NULL;
  python = td_python_find();
  if (!python) return;
  tell = mark;
  tell_of_rank = note_rank;
  int state = python->PyGILState_Ensure();
  names = td_python_run(python, td_python_markers, "<tapedeck markers.py>", methods, &reason);
  python->PyGILState_Release(state);
  free(reason); /* a PyTorch without optimizers */
}

static bool
is_marked(void *type) {
  void *step = td_python_class_item(type, td_python_key("step"));
  void *mark = td_python_slot_named(step, "hooked");
  bool is_marked = td_python_is_true(mark);
  if (mark) python->Py_DecRef(mark);
  if (step) python->Py_DecRef(step);
  return is_marked;
}

/* Making the first optimizer of a class marks the class's step(). */
static bool
is_marked_below(void *type, size_t *n_classes) {
  if (!type || ++*n_classes > CLASSES_MAX) return false;
  if (is_marked(type)) return true;
  void *classes = td_python_subclasses(type);
  bool found = false;
  for (td_python_size i = 0; classes && !found && i < python->PyList_Size(classes); i++)
    found = is_marked_below(python->PyList_GetItem(classes, i), n_classes);
  if (classes) python->Py_DecRef(classes);
  return found;
}

bool
td_markers_expect_optimizer(void) {
  td_python_hold hold;
  size_t n_classes = 0;
  if (!names || !td_python_enter(python, &hold)) return false;
  bool expects = is_marked_below(td_python_item(names, "Optimizer"), &n_classes);
  td_python_leave(python, hold);
  return expects;
}
