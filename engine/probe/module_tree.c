/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/module_tree.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/events/emit.h"
#include "engine/events/strings.h"
#include "engine/probe/ids.h"
#include "engine/probe/tensors.h"

#include <string.h>

/* A module. Its number is its place in the array. */
typedef struct record {
  void *weak; /* (owned) takes the record away when the module dies; NULL: the place is free */
  const void *address;
  char *path; /* (owned) before the names of what is below it; "" for a root that is alone */
  uint32_t name, class_name;
  uint32_t root;      /* its own number: it is one */
  uint32_t n_below;   /* of a root: parameters that were named below it */
  uint32_t walk;      /* the last that came by */
  const void **impls; /* (owned) [n_impls] its own parameters, as they were named */
  size_t n_impls;
} record;

/* Guarded by the GIL; `ids` and `labels` are found without it. */
static struct {
  record *records;
  size_t n, capacity, n_free;
  td_ids *ids;          /* numbers by address */
  td_ids *labels;       /* names of parameters by at::TensorImpl */
  td_number_map owners; /* numbers + 1 of the modules that named parameters, by at::TensorImpl */
  uint32_t n_walks;
  void *module_type, *modules_key, *parameters_key; /* (owned) */
  const td_python *python;
} tree;

/* One walk over modules: those whose parameters are to be named. */
typedef struct walk {
  const td_python *python;
  uint32_t number, root;
  uint32_t *changed; /* (owned) */
  size_t n_changed, capacity;
} walk;

static void
add_changed(walk *self, uint32_t number) {
  TD_GROW(self->changed, self->n_changed, self->capacity);
  self->changed[self->n_changed++] = number;
}

typedef void (*visit_item)(const char *key, void *value, void *data);

/* What a module of TorchScript has instead of a dict: its items are asked for. */
static void
visit_items(const td_python *python, void *mapping, visit_item visit, void *data) {
  void *view = python->PyObject_CallMethod(mapping, "items", NULL);
  void *items = view ? python->PySequence_List(view) : NULL;
  for (td_python_size i = 0; items && i < python->PyList_Size(items); i++) {
    void *pair = python->PyList_GetItem(items, i);
    if (td_python_type_of(pair) != python->PyTuple_Type || python->PyTuple_Size(pair) != 2)
      continue;
    const char *key = python->PyUnicode_AsUTF8(python->PyTuple_GetItem(pair, 0));
    if (key) visit(key, python->PyTuple_GetItem(pair, 1), data);
  }
  python->PyErr_Clear();
  if (items) python->Py_DecRef(items);
  if (view) python->Py_DecRef(view);
}

/* The modules or the parameters of a module, in their order. */
static void
each_item(const td_python *python, void *module, void *which, bool also_script, visit_item visit,
          void *data) {
  void *items = python->PyObject_GetAttr(module, which), *key, *value;
  td_python_size at = 0;
  if (!items) {
    python->PyErr_Clear();
  } else if (td_python_is_a(python, items, python->PyDict_Type)) {
    while (python->PyDict_Next(items, &at, &key, &value)) {
      const char *name =
          td_python_type_of(key) == python->PyUnicode_Type ? python->PyUnicode_AsUTF8(key) : NULL;
      if (name) visit(name, value, data);
    }
  } else if (also_script) {
    visit_items(python, items, visit, data);
  }
  if (items) python->Py_DecRef(items);
}

/* labels */

static uint32_t
owner_of(const void *impl) {
  const uint64_t *owner = td_number_map_find(&tree.owners, (uint64_t)(uintptr_t)impl);
  return owner && *owner ? (uint32_t)*owner - 1 : TD_NONE;
}

static void
set_owner(const void *impl, uint32_t number) {
  *td_number_map_put(&tree.owners, (uint64_t)(uintptr_t)impl) = (uint64_t)number + 1;
}

/* Also from parameters that another module named: their names have this module's in them. That
 * module is to name them again. */
static void
take_labels(uint32_t number, walk *walk) {
  record *self = &tree.records[number];
  for (size_t i = 0; i < self->n_impls; i++) {
    uint32_t owner = owner_of(self->impls[i]);
    if (owner == TD_NONE) continue;
    td_ids_set(tree.labels, self->impls[i], TD_NONE);
    *td_number_map_put(&tree.owners, (uint64_t)(uintptr_t)self->impls[i]) = 0;
    if (walk && owner != number) add_changed(walk, owner);
  }
  self->n_impls = 0;
}

typedef struct search {
  const td_python *python;
  const void *wanted;
  bool found;
} search;

static void
look_for_impl(const char *key, void *value, void *data) {
  search *self = data;
  self->found = self->found || td_tensors_impl(self->python, value) == self->wanted;
}

/* Whether the module that named a parameter has it still: another one may live where it was. */
static bool
has_it_still(const td_python *python, uint32_t owner, const void *impl) {
  search search = {python, impl, false};
  each_item(python, (void *)tree.records[owner].address, tree.parameters_key, true, look_for_impl,
            &search);
  return search.found;
}

static char *
dup_label(uint32_t label) {
  td_strings_lock();
  char *text = td_dup_string(td_strings_text_locked(label));
  td_strings_unlock();
  return text;
}

static bool
is_among(const char *names, const char *name) {
  size_t length = strlen(name);
  for (const char *at = names; (at = strstr(at, name)); at += length)
    if ((at == names || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' ')) return true;
  return false;
}

/* A parameter that two modules share has both names: "wte.weight = lm_head.weight". */
static void
label(const td_python *python, uint32_t number, const void *impl, const char *name) {
  uint32_t before = td_ids_find(tree.labels, impl), owner = owner_of(impl);
  bool is_shared = before != TD_NONE && owner != TD_NONE && has_it_still(python, owner, impl);
  if (!is_shared) {
    td_ids_set(tree.labels, impl, td_intern(name));
    set_owner(impl, number);
    return;
  }
  char *names = dup_label(before);
  char *both = is_among(names, name) ? NULL : td_format("%s = %s", names, name);
  if (both) td_ids_set(tree.labels, impl, td_intern(both));
  free(both);
  free(names);
}

typedef struct naming {
  const td_python *python;
  uint32_t number;
  size_t capacity;
} naming;

static void
name_parameter(const char *key, void *value, void *data) {
  naming *self = data;
  const void *impl = td_tensors_impl(self->python, value);
  record *module = &tree.records[self->number];
  if (!impl) return;
  char *name = *module->path ? td_format("%s.%s", module->path, key) : td_dup_string(key);
  label(self->python, self->number, impl, name);
  free(name);
  TD_GROW(module->impls, module->n_impls, self->capacity);
  module->impls[module->n_impls++] = impl;
}

static void
name_parameters(const td_python *python, uint32_t number) {
  record *self = &tree.records[number];
  naming naming = {python, number, 0};
  free(self->impls);
  self->impls = NULL;
  self->n_impls = 0;
  each_item(python, (void *)self->address, tree.parameters_key, true, name_parameter, &naming);
  tree.records[self->root].n_below += (uint32_t)self->n_impls;
}

typedef struct comparison {
  const td_python *python;
  const record *with;
  size_t n;
  bool differs;
} comparison;

static void
compare_parameter(const char *key, void *value, void *data) {
  comparison *self = data;
  const void *impl = td_tensors_impl(self->python, value);
  if (!impl) return;
  size_t i = self->n++;
  self->differs = self->differs || i >= self->with->n_impls || self->with->impls[i] != impl ||
                  td_ids_find(tree.labels, impl) == TD_NONE;
}

/* records */

/* What a dead root leaves behind keeps its name, until another root has it. */
static void
leave_orphans(uint32_t root) {
  for (uint32_t i = 0; i < tree.n; i++)
    if (tree.records[i].root == root) tree.records[i].root = i;
}

/* (number) the module is dead: its weak reference calls it. */
static void *
module_gone(void *number, void *const *arguments, td_python_size n) {
  const td_python *python = tree.python; /* td_python_find has none while Python ends */
  uint32_t place = (uint32_t)python->PyLong_AsUnsignedLongLongMask(number);
  record *self = &tree.records[place];
  take_labels(place, NULL);
  if (self->root == place) leave_orphans(place);
  td_ids_set(tree.ids, self->address, TD_NONE);
  void *weak = self->weak;
  free(self->impls);
  free(self->path);
  *self = (record){.root = TD_NONE};
  tree.n_free++;
  python->Py_DecRef(weak);
  return python->Py_BuildValue("");
}

static td_python_method gone_method = {"module_gone", module_gone, TD_PYTHON_FASTCALL, NULL};

static uint32_t
free_place(void) {
  for (uint32_t i = 0; i < tree.n && tree.n_free; i++)
    if (!tree.records[i].weak) {
      tree.n_free--;
      return i;
    }
  TD_GROW(tree.records, tree.n, tree.capacity);
  return (uint32_t)tree.n++;
}

/* The name of its class; of a module of TorchScript, of the class that was scripted. The caller
 * frees. */
static char *
dup_class(const td_python *python, void *module) {
  char *name = td_python_class_name(python, module);
  if (strcmp(name, "RecursiveScriptModule") != 0) return name;
  void *scripted = python->PyObject_GetAttrString(module, "original_name");
  const char *text = scripted ? python->PyUnicode_AsUTF8(scripted) : NULL;
  if (text) {
    free(name);
    name = td_dup_string(text);
  }
  python->PyErr_Clear();
  if (scripted) python->Py_DecRef(scripted);
  return name;
}

/* TD_NONE for a module that takes no weak reference. */
static uint32_t
make_record(const td_python *python, void *module) {
  uint32_t number = free_place();
  void *as_object = python->PyLong_FromUnsignedLongLong(number);
  void *gone = python->PyCFunction_NewEx(&gone_method, as_object, NULL);
  void *weak = python->PyWeakref_NewRef(module, gone);
  python->Py_DecRef(gone);
  python->Py_DecRef(as_object);
  python->PyErr_Clear();
  char *class_name = dup_class(python, module);
  tree.records[number] = (record){
      .weak = weak, .address = module, .root = number, .class_name = td_intern(class_name)};
  free(class_name);
  if (!weak) {
    tree.n_free++;
    return TD_NONE;
  }
  td_ids_set(tree.ids, module, number);
  return number;
}

/* Wrappers that PyTorch puts around a module: the names of their only child are no part of paths.
 */
static bool
is_wrapped(const char *key) {
  static const char *const keys[] = {"_orig_mod", "_fsdp_wrapped_module",
                                     "_checkpoint_wrapped_module"};
  for (size_t i = 0; i < TD_N_ELEMENTS(keys); i++)
    if (strcmp(key, keys[i]) == 0) return true;
  return false;
}

static char *
path_below(const char *path, const char *key) {
  if (is_wrapped(key)) return td_dup_string(path);
  return *path ? td_format("%s.%s", path, key) : td_dup_string(key);
}

/* A module with an empty path is called by its class. */
static void
set_path(const td_python *python, uint32_t number, char *path, uint32_t root) {
  record *self = &tree.records[number];
  free(self->path);
  self->path = path;
  self->root = root;
  char *class_name = *path ? NULL : dup_class(python, (void *)self->address);
  char *in_parentheses = class_name ? td_format("(%s)", class_name) : NULL;
  self->name = td_intern(in_parentheses ? in_parentheses : path);
  free(in_parentheses);
  free(class_name);
}

/* What was a root of its own is found below another one, or its root was. */
static bool
has_moved(const walk *self, uint32_t number) {
  uint32_t root = tree.records[number].root;
  return root != self->root && (root == number || tree.records[root].root != root);
}

typedef struct below {
  walk *walk;
  uint32_t parent;
} below;

static void walk_module(walk *self, void *module, uint32_t parent, const char *key);

static void
walk_child(const char *key, void *value, void *data) {
  below *self = data;
  if (td_module_is_one(self->walk->python, value))
    walk_module(self->walk, value, self->parent, key);
}

static void
walk_known(walk *self, void *module, uint32_t number, bool is_new) {
  const td_python *python = self->python;
  comparison comparison = {python, &tree.records[number], 0, is_new};
  tree.records[number].walk = self->number;
  each_item(python, module, tree.parameters_key, is_new, compare_parameter, &comparison);
  if (comparison.differs || comparison.n < tree.records[number].n_impls) {
    take_labels(number, self);
    add_changed(self, number);
  }
  each_item(python, module, tree.modules_key, is_new, walk_child, &(below){self, number});
}

static void
walk_module(walk *self, void *module, uint32_t parent, const char *key) {
  uint32_t number = td_module_tree_find(module);
  bool is_new = number == TD_NONE;
  if (!is_new && tree.records[number].walk == self->number) return;
  if (is_new) number = make_record(self->python, module);
  if (number == TD_NONE) return;
  is_new = is_new || has_moved(self, number);
  if (is_new)
    set_path(self->python, number, path_below(tree.records[parent].path, key), self->root);
  walk_known(self, module, number, is_new);
}

/* All old names are gone before the first new one is given: memory is used again. */
static void
end_walk(walk *self) {
  for (size_t i = 0; i < self->n_changed; i++)
    name_parameters(self->python, self->changed[i]);
  free(self->changed);
}

static char *
unique_name(const char *name) {
  char *unique = td_dup_string(name);
  for (unsigned n = 2;; n++) {
    bool is_taken = false;
    for (uint32_t i = 0; i < tree.n && !is_taken; i++)
      is_taken = tree.records[i].weak && tree.records[i].root == i && tree.records[i].path &&
                 strcmp(tree.records[i].path, unique) == 0;
    if (!is_taken) return unique;
    free(unique);
    unique = td_format("%s#%u", name, n);
  }
}

static bool
pause_gc(const td_python *python) {
  return python->PyGC_Disable && python->PyGC_Disable();
}

void
td_module_tree_add(const td_python *python, void *root, const char *name) {
  bool had_gc = pause_gc(python);
  uint32_t number = td_module_tree_find(root);
  if (number == TD_NONE) number = make_record(python, root);
  if (number != TD_NONE) {
    walk walk = {.python = python, .number = ++tree.n_walks, .root = number};
    set_path(python, number, name ? unique_name(name) : td_dup_string(""), number);
    walk_known(&walk, root, number, true);
    end_walk(&walk);
  }
  if (had_gc) python->PyGC_Enable();
}

void
td_module_tree_refresh(const td_python *python, void *module, uint32_t number) {
  bool had_gc = pause_gc(python);
  walk walk = {.python = python, .number = ++tree.n_walks, .root = tree.records[number].root};
  walk_known(&walk, module, number, false);
  end_walk(&walk);
  if (had_gc) python->PyGC_Enable();
}

uint32_t
td_module_tree_find(const void *module) {
  return td_ids_find(tree.ids, module);
}

td_module_name
td_module_tree_name(uint32_t number) {
  return (td_module_name){tree.records[number].name, tree.records[number].class_name};
}

uint32_t
td_module_tree_label(const void *impl) {
  uint32_t found = impl && tree.labels ? td_ids_find(tree.labels, impl) : TD_NONE;
  return found == TD_NONE ? 0 : found;
}

bool
td_module_is_one(const td_python *python, void *object) {
  return td_python_is_a(python, object, tree.module_type);
}

typedef struct count {
  const td_python *python;
  const void *wanted;
  bool has_wanted;
  size_t n, n_parameters;
} count;

static void count_module(count *self, void *module);

static void
count_child(const char *key, void *value, void *data) {
  count *self = data;
  if (td_module_is_one(self->python, value)) count_module(self, value);
}

static void
count_parameter(const char *key, void *value, void *data) {
  count *self = data;
  self->n_parameters += td_tensors_impl(self->python, value) != NULL;
}

static void
count_module(count *self, void *module) {
  self->n++;
  self->has_wanted = self->has_wanted || module == self->wanted;
  each_item(self->python, module, tree.parameters_key, true, count_parameter, self);
  each_item(self->python, module, tree.modules_key, true, count_child, self);
}

size_t
td_module_count(const td_python *python, void *module, const void *wanted, bool *has_wanted,
                size_t *n_parameters) {
  count count = {.python = python, .wanted = wanted};
  count_module(&count, module);
  *has_wanted = count.has_wanted;
  *n_parameters = count.n_parameters;
  return count.n;
}

bool
td_module_tree_has_other(const td_python *python, void *root) {
  for (uint32_t i = 0; i < tree.n; i++) {
    const record *other = &tree.records[i];
    bool is_below;
    size_t n_parameters;
    if (!other->weak || other->root != i || !other->n_below) continue;
    td_module_count(python, root, other->address, &is_below, &n_parameters);
    if (!is_below) return true;
  }
  return false;
}

const char *
td_module_tree_start(const td_python *python) {
  tree.module_type = td_python_module_item(python, "torch.nn.modules.module", "Module");
  if (!tree.module_type || !td_tensors_start(python)) return "PyTorch has no modules";
  tree.modules_key = python->PyUnicode_InternFromString("_modules");
  tree.parameters_key = python->PyUnicode_InternFromString("_parameters");
  tree.python = python;
  tree.ids = td_ids_new();
  tree.labels = td_ids_new();
  return NULL;
}
