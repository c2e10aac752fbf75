/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/markers.h"

#include "engine/base/alloc.h"
#include "engine/events/cuts.h"
#include "engine/events/emit.h"
#include "engine/probe/leaves.h"
#include "engine/probe/probe.h"
#include "engine/probe/python.h"
#include "engine/probe/source_lines.h"
#include "engine/probe/stacks.h"
#include "engine/probe/steps.h"

#include <stddef.h>
#include <stdlib.h>

#define CLASSES_MAX 1000 /* of optimizers */

static const td_python *python;
static void (*tell)(uint32_t marker);
static void (*tell_of_rank)(int32_t rank);
static void (*begin_tape)(void);
static const td_observer *observer;
static uint32_t n_unreached, name_unreached, stack_unreached;
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
intern_name(const void *tensor, void *number) {
  uint32_t name = td_stacks_label(tensor);
  if (!name) name = td_leaves_label(tensor);
  if (name) return name;
  char *text = td_format("parameter %lld", td_python_number(number));
  name = td_intern(text);
  free(text);
  return name;
}

/* What no module has is called so from now on. */
static void
call_leaf(const void *tensor, uint32_t name) {
  uint32_t node = observer->find_leaf ? observer->find_leaf(tensor) : TD_NONE;
  bool has_name = td_leaves_label(tensor);
  td_leaves_own(tensor, name);
  if (node != TD_NONE && !has_name) TD_EMIT(node_label, .node = node, .label = name);
}

/* tell_parameter(address, number, optimizer) */
static void *
tell_parameter(void *self, void *const *arguments, td_python_size n) {
  if (n != 3) return none();
  const void *tensor = (const void *)(uintptr_t)td_python_number(arguments[0]);
  uint32_t name = intern_name(tensor, arguments[1]);
  if (!td_stacks_label(tensor)) call_leaf(tensor, name);
  TD_EMIT(optimizes, .optimizer = (uint32_t)td_python_number(arguments[2]), .name = name);
  return none();
}

/* tell_no_gradient(address, number, is_last): the address is that of a parameter's tensor. One that
 * has no name yet is told of the last time. */
static void *
tell_no_gradient(void *self, void *const *arguments, td_python_size n) {
  if (n != 3) return none();
  const void *tensor = (const void *)(uintptr_t)td_python_number(arguments[0]);
  if (!td_stacks_label(tensor) && !td_python_number(arguments[2])) return none();
  td_cut cut = td_cuts_find((uintptr_t)tensor);
  TD_EMIT(no_gradient, .name = intern_name(tensor, arguments[1]), .cut = cut.kind,
          .stack = cut.stack);
  return none();
}

/* tell_gradient_missing(address, number, optimizer, step, held): `held` is the address of what
 * .grad holds, 0 for None. What is not zero is no news. */
static void *
tell_gradient_missing(void *self, void *const *arguments, td_python_size n) {
  if (n != 5 || !td_probe_is_on()) return none();
  const void *tensor = (const void *)(uintptr_t)td_python_number(arguments[0]);
  const void *held = (const void *)(uintptr_t)td_python_number(arguments[4]);
  if (held && (!observer->is_zero || !observer->is_zero(held))) return none();
  TD_EMIT(gradient_missing, .optimizer = (uint32_t)td_python_number(arguments[2]),
          .step = (uint32_t)td_python_number(arguments[3]),
          .name = intern_name(tensor, arguments[1]));
  return none();
}

/* note_result(address): the address is that of a tensor that is no leaf. */
static void *
note_result(void *self, void *const *arguments, td_python_size n) {
  uint32_t stack = 0, name;
  if (n != 1 || !observer->find_unreached) return none();
  name = observer->find_unreached((const void *)(uintptr_t)td_python_number(arguments[0]), &stack);
  if (!n_unreached) name_unreached = name;
  if (!name || name != name_unreached) return none(); /* those of one operation are told of */
  n_unreached++;
  stack_unreached = stack;
  return none();
}

/* tell_results(): of all that were noted. */
static void *
tell_results(void *self, void *const *arguments, td_python_size n) {
  if (n_unreached && td_probe_is_on())
    TD_EMIT(graphs_unreached, .count = n_unreached, .name = name_unreached,
            .stack = stack_unreached);
  n_unreached = 0;
  return none();
}

/* note_line(file, line): one that is in a stack. */
static void *
note_line(void *self, void *const *arguments, td_python_size n) {
  const char *file = n == 2 ? td_python_text(python, arguments[0]) : NULL;
  if (file) td_source_lines_note(file, (int)td_python_number(arguments[1]));
  return none();
}

/* tell_failure(text, stack, is_off, begins): the program ends by an exception. `begins`: on a tape
 * that begins now, if there is none. */
static void *
tell_failure(void *self, void *const *arguments, td_python_size n) {
  const char *text = n == 4 ? td_python_text(python, arguments[0]) : NULL;
  const char *stack = n == 4 ? td_python_text(python, arguments[1]) : NULL;
  if (!text || !stack) return none();
  if (td_python_is_true(arguments[3])) begin_tape();
  if (!td_probe_is_on()) return none();
  td_cut cut = td_cuts_last();
  TD_EMIT(program_failed, .text = td_intern(text), .stack = td_intern(stack), .cut = cut.kind,
          .cut_stack = cut.stack, .switched_off = td_python_is_true(arguments[2]));
  return none();
}

static bool
are_zero(void *const *addresses, td_python_size n) {
  for (td_python_size i = 0; i < n; i++) {
    const void *held = (const void *)(uintptr_t)td_python_number(addresses[i]);
    if (!observer->is_zero || !observer->is_zero(held)) return false;
  }
  return true;
}

/* all_zero(held...): the addresses of gradients. */
static void *
all_zero(void *self, void *const *arguments, td_python_size n) {
  return python->Py_BuildValue("i", (int)are_zero(arguments, n));
}

/* tell_empty_step(optimizer, step, held...): the addresses of gradients that it has. One that is
 * not zero is no news. */
static void *
tell_empty_step(void *self, void *const *arguments, td_python_size n) {
  if (n < 2 || !td_probe_is_on() || !are_zero(arguments + 2, n - 2)) return none();
  TD_EMIT(step_empty, .optimizer = (uint32_t)td_python_number(arguments[0]),
          .step = (uint32_t)td_python_number(arguments[1]));
  return none();
}

/* tell_idle(name, parameters) */
static void *
tell_idle(void *self, void *const *arguments, td_python_size n) {
  const char *name = n == 2 ? td_python_text(python, arguments[0]) : NULL;
  if (name && td_probe_is_on())
    TD_EMIT(optimizer_idle, .name = td_intern(name),
            .parameters = (uint32_t)td_python_number(arguments[1]));
  return none();
}

/* tell_cycle(name, place, count) */
static void *
tell_cycle(void *self, void *const *arguments, td_python_size n) {
  const char *name = n == 3 ? td_python_text(python, arguments[0]) : NULL;
  const char *place = n == 3 ? td_python_text(python, arguments[1]) : NULL;
  if (name && place && td_probe_is_on())
    TD_EMIT(function_cycle, .name = td_intern(name), .place = td_intern(place),
            .count = (uint32_t)td_python_number(arguments[2]));
  return none();
}

/* tell_frozen(address, number, optimizer, step) */
static void *
tell_frozen(void *self, void *const *arguments, td_python_size n) {
  if (n != 4 || !td_probe_is_on()) return none();
  const void *tensor = (const void *)(uintptr_t)td_python_number(arguments[0]);
  TD_EMIT(frozen_step, .name = intern_name(tensor, arguments[1]),
          .optimizer = (uint32_t)td_python_number(arguments[2]),
          .step = (uint32_t)td_python_number(arguments[3]));
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
    {"tell_gradient_missing", tell_gradient_missing, TD_PYTHON_FASTCALL, NULL},
    {"note_result", note_result, TD_PYTHON_FASTCALL, NULL},
    {"tell_results", tell_results, TD_PYTHON_FASTCALL, NULL},
    {"note_line", note_line, TD_PYTHON_FASTCALL, NULL},
    {"tell_failure", tell_failure, TD_PYTHON_FASTCALL, NULL},
    {"all_zero", all_zero, TD_PYTHON_FASTCALL, NULL},
    {"tell_empty_step", tell_empty_step, TD_PYTHON_FASTCALL, NULL},
    {"tell_idle", tell_idle, TD_PYTHON_FASTCALL, NULL},
    {"tell_cycle", tell_cycle, TD_PYTHON_FASTCALL, NULL},
    {"tell_frozen", tell_frozen, TD_PYTHON_FASTCALL, NULL},
    {0},
};

void
td_markers_start(const td_observer *from, void (*mark)(uint32_t marker),
                 void (*note_rank)(int32_t rank), void (*begin)(void)) {
  observer = from;
  char *reason = NULL;
  python = td_python_find();
  if (!python) return;
  tell = mark;
  tell_of_rank = note_rank;
  begin_tape = begin;
  int state = python->PyGILState_Ensure();
  names = td_python_run(python, td_python_markers, "<tapedeck markers.py>", methods, &reason);
  python->PyGILState_Release(state);
  free(reason); /* a PyTorch without optimizers */
}

void
td_markers_find_rank(void) {
  td_python_hold hold;
  if (!names || !td_python_enter(python, &hold)) return;
  void *nothing = python->Py_BuildValue("()");
  void *result = td_python_call(td_python_item(names, "begin"), nothing, NULL);
  if (result) python->Py_DecRef(result);
  python->Py_DecRef(nothing);
  td_python_leave(python, hold);
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
