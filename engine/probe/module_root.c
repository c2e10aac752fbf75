/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/module_root.h"

#include "engine/base/alloc.h"
#include "engine/events/event.h"
#include "engine/probe/module_tree.h"
#include "engine/probe/variables.h"

#include <string.h>

#define FRAMES_MAX 16

typedef struct sight {
  const td_python *python;
  const void *module; /* whose root is searched */
  void *root;         /* (borrowed) the largest that has it */
  char *name;         /* (owned) */
  size_t size;
} sight;

static void
take_root(sight *self, const td_variable *variable, size_t size) {
  free(self->name);
  self->root = variable->value;
  self->size = size;
  self->name = td_variable_text(self->python, variable);
}

static bool
look(const td_variable *variable, void *data) {
  sight *self = data;
  bool has_it;
  size_t n_parameters;
  if (!td_module_is_one(self->python, variable->value)) return true;
  size_t size =
      td_module_count(self->python, variable->value, self->module, &has_it, &n_parameters);
  if (has_it && size > self->size) take_root(self, variable, size);
  return true;
}

typedef struct others {
  const td_python *python;
  void *root;
  bool found;
} others;

/* A module with parameters that is neither below the root nor above it. */
static bool
look_for_others(const td_variable *variable, void *data) {
  others *self = data;
  bool is_below, is_above;
  size_t n_parameters, n_of_root;
  if (!td_module_is_one(self->python, variable->value)) return true;
  td_module_count(self->python, variable->value, self->root, &is_above, &n_parameters);
  if (is_above || !n_parameters) return true;
  td_module_count(self->python, self->root, variable->value, &is_below, &n_of_root);
  self->found = !is_below;
  return !self->found;
}

/* The root in the innermost function that has a variable for it. *has_others: another one is in
 * sight. */
static void
find_root(sight *self, void *frame, bool is_inner, bool *has_others) {
  const td_python *python = self->python;
  void *held = NULL;
  for (size_t n = 0; frame && n < FRAMES_MAX && !self->root;
       frame = td_variables_outer(python, frame, &held)) {
    if (td_variables_is_foreign(python, frame)) continue;
    td_variables_each(python, frame, true, look, self);
    if (!self->root && !is_inner) td_variables_each(python, frame, false, look, self);
    others others = {python, self->root, false};
    if (self->root) td_variables_each(python, frame, is_inner, look_for_others, &others);
    *has_others = others.found;
    n += is_inner ? FRAMES_MAX : 1;
  }
  if (held) python->Py_DecRef(held);
}

void
td_module_root_name(const td_python *python, void *module, void *frame, bool is_inner) {
  sight sight = {.python = python, .module = module};
  bool has_others = is_inner;
  find_root(&sight, frame, is_inner, &has_others);
  void *root = sight.root ? sight.root : module;
  char *name = sight.name ? sight.name : td_python_class_name(module);
  has_others = has_others || is_inner || td_module_tree_has_other(python, root);
  td_module_tree_add(python, root, has_others ? name : NULL);
  if (td_module_tree_find(module) == TD_NONE) td_module_tree_add(python, module, name);
  free(name);
}
