/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/module_tree.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/events/strings.h"
#include "engine/probe/ids.h"
#include "engine/probe/module_labels.h"
#include "engine/probe/module_shards.h"

#include <string.h>

/* A module. Its number is its place in the array. */
typedef struct record {
  void *weak; /* (owned) takes the record away when the module dies; NULL: the place is free */
  void *address;
  char *path; /* (owned) before the names of what is below it; "" for a root that is alone */
  uint32_t name, class_name;
  uint32_t root;      /* its own number: it is one */
  uint32_t n_below;   /* of a root: parameters that were named below it */
  uint32_t walk;      /* the last that came by */
  const void **impls; /* (owned) [n_impls] its own parameters, as they were named */
  size_t n_impls;
  const void **shards; /* (owned) [n_shards] parameters that it has only while it runs */
  size_t n_shards, shards_capacity;
} record;

/* Guarded by the GIL; `ids` are found without it. */
static struct {
  record *records;
  size_t n, capacity, n_free;
  td_ids *ids; /* numbers by address */
  uint32_t n_walks;
  const td_python *python;
} tree;

#define DEPTH_MAX 1000 /* of modules within modules, as deep as Python itself goes into them */

/* One walk over modules: those whose parameters are to be named. */
typedef struct walk {
  const td_python *python;
  uint32_t number, root;
  unsigned depth;
  uint32_t *changed; /* (owned) */
  size_t n_changed, capacity;
} walk;

static void
add_changed(walk *self, uint32_t number) {
  TD_GROW(self->changed, self->n_changed, self->capacity);
  self->changed[self->n_changed++] = number;
}

/* Also from parameters that another module named: their names have this module's in them. That
 * module is to name them again. */
static void
take_labels(uint32_t number, walk *walk) {
  record *self = &tree.records[number];
  for (size_t i = 0; i < self->n_impls; i++) {
    void *giver = td_module_label_take(self->impls[i]);
    uint32_t other = giver ? td_module_tree_find(giver) : TD_NONE;
    if (walk && other != TD_NONE && other != number) add_changed(walk, other);
  }
  self->n_impls = 0;
  for (size_t i = 0; i < self->n_shards; i++)
    (void)td_module_label_take(self->shards[i]);
  self->n_shards = 0;
}

typedef struct naming {
  const td_python *python;
  record *module;
  size_t capacity;
} naming;

static void
give_name(const td_python *python, const record *module, const char *key, const void *impl) {
  char *name = *module->path ? td_format("%s.%s", module->path, key) : td_dup_string(key);
  td_module_label_give(python, module->address, impl, name);
  free(name);
}

static void
name_parameter(const char *key, const void *impl, void *data) {
  naming *self = data;
  record *module = self->module;
  give_name(self->python, module, key, impl);
  TD_GROW(module->impls, module->n_impls, self->capacity);
  module->impls[module->n_impls++] = impl;
}

static void
name_parameters(const td_python *python, uint32_t number) {
  record *self = &tree.records[number];
  naming naming = {python, self, 0};
  free(self->impls);
  self->impls = NULL;
  self->n_impls = 0;
  td_module_each_parameter(python, self->address, true, name_parameter, &naming);
  tree.records[self->root].n_below += (uint32_t)self->n_impls;
}

typedef struct comparison {
  const record *with;
  size_t n;
  bool differs;
} comparison;

static void
compare_parameter(const char *key, const void *impl, void *data) {
  comparison *self = data;
  size_t i = self->n++;
  self->differs = self->differs || i >= self->with->n_impls || self->with->impls[i] != impl ||
                  !td_module_label_find(impl);
}

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
  uint32_t place = (uint32_t)td_python_bits(number);
  record *self = &tree.records[place];
  take_labels(place, NULL);
  if (self->root == place) leave_orphans(place);
  td_ids_set(tree.ids, self->address, TD_NONE);
  void *weak = self->weak;
  free(self->impls);
  free(self->shards);
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
  char *name = td_python_class_name(module);
  if (strcmp(name, "RecursiveScriptModule") != 0) return name;
  void *steps[] = {td_python_own(module, td_python_key("_c")), NULL, NULL};
  steps[1] = td_python_c_call(steps[0], td_python_key("_type"));
  steps[2] = td_python_c_call(steps[1], td_python_key("name"));
  const char *text = td_python_text(python, steps[2]);
  if (text) {
    free(name);
    name = td_dup_string(text);
  }
  for (size_t i = 0; i < TD_N_ELEMENTS(steps); i++)
    if (steps[i]) python->Py_DecRef(steps[i]);
  return name;
}

/* TD_NONE for a module that takes no weak reference. */
static uint32_t
make_record(const td_python *python, void *module) {
  uint32_t number = free_place();
  void *as_object = python->PyLong_FromUnsignedLongLong(number);
  void *gone = python->PyCFunction_NewEx(&gone_method, as_object, NULL);
  void *weak = td_python_weak(module, gone);
  python->Py_DecRef(gone);
  python->Py_DecRef(as_object);
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
  char *class_name = *path ? NULL : dup_class(python, self->address);
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
  walk_module(self->walk, value, self->parent, key);
}

static void
walk_known(walk *self, void *module, uint32_t number, bool is_new) {
  const td_python *python = self->python;
  comparison comparison = {&tree.records[number], 0, is_new};
  tree.records[number].walk = self->number;
  td_module_each_parameter(python, module, is_new, compare_parameter, &comparison);
  if (comparison.differs || comparison.n < tree.records[number].n_impls) {
    take_labels(number, self);
    add_changed(self, number);
  }
  self->depth++;
  td_module_each_child(python, module, is_new, walk_child, &(below){self, number});
  self->depth--;
}

static void
walk_module(walk *self, void *module, uint32_t parent, const char *key) {
  uint32_t number = td_module_tree_find(module);
  bool is_new = number == TD_NONE;
  if (self->depth == DEPTH_MAX) return;
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

static void
name_shard(void *module, const char *key, const void *impl, void *data) {
  uint32_t number = td_module_tree_find(module);
  record *self = number == TD_NONE ? NULL : &tree.records[number];
  if (!self || !self->path || td_module_label_find(impl)) return;
  give_name(data, self, key, impl);
  TD_GROW(self->shards, self->n_shards, self->shards_capacity);
  self->shards[self->n_shards++] = impl;
}

void
td_module_tree_name_shards(const td_python *python) {
  if (!tree.python) return;
  for (uint32_t i = 0; i < tree.n; i++)
    if (tree.records[i].weak)
      td_module_shards_each(python, tree.records[i].address, name_shard, (void *)python);
}

uint32_t
td_module_tree_find(const void *module) {
  return td_ids_find(tree.ids, module);
}

td_module_name
td_module_tree_name(uint32_t number) {
  return (td_module_name){tree.records[number].name, tree.records[number].class_name};
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
  const char *trouble = td_module_items_start(python);
  if (trouble) return trouble;
  tree.python = python;
  tree.ids = td_ids_new();
  td_module_labels_start(tree.ids);
  return NULL;
}
