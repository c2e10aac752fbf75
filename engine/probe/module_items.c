/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/module_items.h"

#include "engine/base/number_map.h"
#include "engine/probe/tensors.h"

#define MODULES_MAX 100000 /* of one root */

/* Guarded by the GIL; (owned). */
static void *module_type;
static struct { void *modules, *parameters, *script, *script_modules, *items; } keys;

typedef void (*visit_item)(const char *key, void *value, void *data);

static void
visit_dict(const td_python *python, void *dict, visit_item visit, void *data) {
  td_python_size at = 0;
  for (void *key, *value; python->PyDict_Next(dict, &at, &key, &value);) {
    const char *name = td_python_text(python, key);
    if (name) visit(name, value, data);
  }
}

static void
visit_pairs(const td_python *python, void *pairs, visit_item visit, void *data) {
  for (td_python_size i = 0; i < python->PyList_Size(pairs); i++) {
    void *pair = python->PyList_GetItem(pairs, i);
    if (td_python_type_of(pair) != python->PyTuple_Type || python->PyTuple_Size(pair) != 2)
      continue;
    const char *key = td_python_text(python, python->PyTuple_GetItem(pair, 0));
    if (key) visit(key, python->PyTuple_GetItem(pair, 1), data);
  }
}

static void
drop(const td_python *python, void *object) {
  if (object) python->Py_DecRef(object);
}

/* What a module of TorchScript has instead of a dict: around a dict, or around C++'s list. */
static void
visit_script(const td_python *python, void *mapping, visit_item visit, void *data) {
  void *dict = td_python_own(mapping, keys.script_modules);
  void *script = dict ? NULL : td_python_own(mapping, keys.script);
  void *pairs = td_python_c_call(script, keys.items);
  if (dict && td_python_is_a(python, dict, python->PyDict_Type))
    visit_dict(python, dict, visit, data);
  if (pairs && td_python_type_of(pairs) == python->PyList_Type)
    visit_pairs(python, pairs, visit, data);
  drop(python, pairs);
  drop(python, script);
  drop(python, dict);
}

/* The dict of a module that has its modules or its parameters. */
static void
each_item(const td_python *python, void *module, void *which, bool also_script, visit_item visit,
          void *data) {
  void *items = td_python_own(module, which);
  if (!items) return;
  if (td_python_is_a(python, items, python->PyDict_Type))
    visit_dict(python, items, visit, data);
  else if (also_script)
    visit_script(python, items, visit, data);
  python->Py_DecRef(items);
}

bool
td_module_is_one(const td_python *python, void *object) {
  return td_python_is_a(python, object, module_type);
}

typedef struct visitor {
  const td_python *python;
  td_module_visit child;
  td_parameter_visit parameter;
  void *data;
} visitor;

static void
visit_child(const char *key, void *value, void *data) {
  visitor *self = data;
  if (td_module_is_one(self->python, value)) self->child(key, value, self->data);
}

void
td_module_each_child(const td_python *python, void *module, bool also_script, td_module_visit visit,
                     void *data) {
  visitor self = {.python = python, .child = visit, .data = data};
  each_item(python, module, keys.modules, also_script, visit_child, &self);
}

static void
visit_parameter(const char *key, void *value, void *data) {
  visitor *self = data;
  const void *impl = td_tensors_impl(self->python, value);
  if (impl) self->parameter(key, impl, self->data);
}

void
td_module_each_parameter(const td_python *python, void *module, bool also_script,
                         td_parameter_visit visit, void *data) {
  visitor self = {.python = python, .parameter = visit, .data = data};
  each_item(python, module, keys.parameters, also_script, visit_parameter, &self);
}

/* The modules that were met, each once, in the order in which they were: a module may be in several
 * others, and in itself. */
typedef struct count {
  td_number_map met;
  size_t n_parameters;
} count;

static void
meet(const char *name, void *module, void *data) {
  count *self = data;
  if (self->met.n < MODULES_MAX) td_number_map_put(&self->met, (uintptr_t)module);
}

static void
count_parameter(const char *name, const void *impl, void *data) {
  ((count *)data)->n_parameters++;
}

size_t
td_module_count(const td_python *python, void *module, const void *wanted, bool *has_wanted,
                size_t *n_parameters) {
  count count = {0};
  meet(NULL, module, &count);
  for (uint32_t i = 0; i < count.met.n; i++) {
    void *each = (void *)(uintptr_t)count.met.entries[i].key;
    td_module_each_parameter(python, each, true, count_parameter, &count);
    td_module_each_child(python, each, true, meet, &count);
  }
  size_t n = count.met.n;
  *has_wanted = td_number_map_find(&count.met, (uintptr_t)wanted) != NULL;
  *n_parameters = count.n_parameters;
  td_number_map_fini(&count.met);
  return n;
}

const char *
td_module_items_start(const td_python *python) {
  module_type = td_python_module_item("torch.nn.modules.module", "Module");
  if (!module_type || !td_tensors_start(python)) return "PyTorch has no modules";
  keys.modules = td_python_key("_modules");
  keys.parameters = td_python_key("_parameters");
  keys.script = td_python_key("_c");
  keys.script_modules = td_python_key("_python_modules");
  keys.items = td_python_key("items");
  return NULL;
}
