/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/module_shards.h"

#include "engine/probe/tensors.h"

#define DEPTH_MAX 3 /* of functions around functions */

typedef struct search {
  const td_python *python;
  td_shard_visit visit;
  void *data;
} search;

static void
drop(const td_python *python, void *object) {
  if (object) python->Py_DecRef(object);
}

/* What an object's own dict has under a name (owned), or NULL. */
static void *
own(void *object, const char *name) {
  return object ? td_python_own(object, td_python_key(name)) : NULL;
}

static void
visit_list(const search *self, void *list, void (*each)(const search *self, void *item)) {
  const td_python *python = self->python;
  if (!list || td_python_type_of(list) != python->PyList_Type) return;
  for (td_python_size i = 0; i < python->PyList_Size(list); i++)
    each(self, python->PyList_GetItem(list, i));
}

/* An FSDPParam. It has no whole parameter before the first forward. */
static void
visit_parameter(const search *self, void *parameter) {
  const td_python *python = self->python;
  void *whole = own(parameter, "_unsharded_param"), *info = own(parameter, "_module_info");
  void *module = own(info, "module"), *name = own(info, "param_name");
  const void *impl = whole ? td_tensors_impl(python, whole) : NULL;
  const char *text = name ? td_python_text(python, name) : NULL;
  if (impl && module && text) self->visit(module, text, impl, self->data);
  drop(python, name);
  drop(python, module);
  drop(python, info);
  drop(python, whole);
}

/* An FSDPParamGroup. */
static void
visit_group(const search *self, void *group) {
  void *parameters = own(group, "fsdp_params");
  visit_list(self, parameters, visit_parameter);
  drop(self->python, parameters);
}

/* Older versions have one group. */
static void
visit_state(const search *self, void *state) {
  void *groups = own(state, "_fsdp_param_groups"), *group = own(state, "_fsdp_param_group");
  visit_list(self, groups, visit_group);
  if (group) visit_group(self, group);
  drop(self->python, group);
  drop(self->python, groups);
}

static void visit_hook(const search *self, void *hook, unsigned depth);

/* A hook of several modules is a function around another one, which has the state's method in a
 * cell. */
static void
visit_cells(const search *self, void *cells, unsigned depth) {
  const td_python *python = self->python;
  if (!cells || td_python_type_of(cells) != python->PyTuple_Type) return;
  for (td_python_size i = 0; i < python->PyTuple_Size(cells); i++) {
    void *cell = python->PyTuple_GetItem(cells, i);
    void *held = td_python_type_of(cell) == python->PyCell_Type ? python->PyCell_Get(cell) : NULL;
    if (held) visit_hook(self, held, depth + 1);
    drop(python, held);
  }
}

static void
visit_hook(const search *self, void *hook, unsigned depth) {
  const td_python *python = self->python;
  bool is_bound = td_python_type_of(hook) == python->PyMethod_Type;
  bool is_function = td_python_type_of(hook) == python->PyFunction_Type && depth < DEPTH_MAX;
  void *state = is_bound ? td_python_slot_named(hook, "__self__") : NULL;
  void *cells = is_function ? td_python_slot_named(hook, "__closure__") : NULL;
  if (state) visit_state(self, state);
  visit_cells(self, cells, depth);
  drop(python, cells);
  drop(python, state);
}

void
td_module_shards_each(const td_python *python, void *module, td_shard_visit visit, void *data) {
  const search self = {python, visit, data};
  void *hooks = own(module, "_forward_pre_hooks");
  td_python_size at = 0;
  bool has_hooks = hooks && td_python_is_a(python, hooks, python->PyDict_Type);
  for (void *key, *hook; has_hooks && python->PyDict_Next(hooks, &at, &key, &hook);)
    visit_hook(&self, hook, 0);
  drop(python, hooks);
}
