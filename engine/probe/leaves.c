/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The search costs microseconds for each pass. So a leaf that was sought in vain a few times is not
 * sought again. Another leaf may come to its address, and then has no name: that is not untrue. */
#include "engine/probe/leaves.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/probe/ids.h"
#include "engine/probe/module_labels.h"
#include "engine/probe/module_tree.h"
#include "engine/probe/own_time.h"
#include "engine/probe/tensors.h"
#include "engine/probe/variables.h"

#include <pthread.h>
#include <stdatomic.h>

#define FRAMES_MAX 16
#define TRIES_MAX 3

typedef struct leaf {
  const void *impl;
  uint32_t node;
  bool named;
} leaf;

typedef struct leaves {
  leaf *items; /* (owned) by the thread, and left when it ends */
  size_t n, capacity, n_named;
  const td_python *python;
} leaves;

static _Thread_local leaves own;
static td_ids *tries;  /* (owned) by the address of a leaf */
static td_ids *labels; /* (owned) by the address: interned names, of variables and of optimizers */
static td_ids *owned;  /* (owned) by the address: those of optimizers */

static atomic_bool names_wanted;

static void
make_tables_cb(void) {
  tries = td_ids_new();
  labels = td_ids_new();
  owned = td_ids_new();
}

static void
need_tables(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_tables_cb);
}

static uint32_t
find_label(td_ids *among, const void *impl) {
  uint32_t label = td_ids_find(among, impl);
  return label == TD_NONE ? 0 : label;
}

void
td_leaves_begin(bool has_names) {
  need_tables();
  atomic_store(&names_wanted, has_names);
  td_ids_clear(labels);
  td_ids_clear(owned);
}

uint32_t
td_leaves_label(const void *impl) {
  need_tables();
  uint32_t label = find_label(owned, impl);
  return label ? label : find_label(labels, impl);
}

uint32_t
td_leaves_owned_label(const void *impl) {
  need_tables();
  return find_label(owned, impl);
}

void
td_leaves_own(const void *impl, uint32_t label) {
  need_tables();
  td_ids_set(owned, impl, label);
}

static uint32_t
n_tries(const void *impl) {
  need_tables();
  uint32_t n = td_ids_find(tries, impl);
  return n == TD_NONE ? 0 : n;
}

void
td_leaves_want(uint32_t node, const void *impl) {
  if (!atomic_load(&names_wanted) || !td_own_wants(TD_recorder_work_leaves)) return;
  if (n_tries(impl) >= TRIES_MAX) {
    td_ids_set(labels, impl, TD_NONE); /* of a leaf that was there before */
    return;
  }
  TD_GROW(own.items, own.n, own.capacity);
  own.items[own.n++] = (leaf){.impl = impl, .node = node};
}

static int
compare_leaves(const void *a, const void *b) {
  const leaf *x = a, *y = b;
  return (x->impl > y->impl) - (x->impl < y->impl);
}

static bool
look(const td_variable *variable, void *data) {
  leaves *self = data;
  leaf key = {.impl = td_tensors_impl(self->python, variable->value)};
  leaf *found = key.impl ? bsearch(&key, self->items, self->n, sizeof key, compare_leaves) : NULL;
  if (!found || found->named) return true;
  char *name = td_variable_text(self->python, variable);
  found->named = true;
  uint32_t label = td_intern(name);
  td_ids_set(labels, found->impl, label);
  TD_EMIT(node_label, .node = found->node, .label = label);
  free(name);
  return ++self->n_named < self->n;
}

static void
search(leaves *self) {
  const td_python *python = self->python;
  void *held = NULL, *frame = python->PyEval_GetFrame();
  bool go_on = true;
  for (size_t n = 0; frame && go_on && n < FRAMES_MAX;
       frame = td_variables_outer(python, frame, &held)) {
    if (td_variables_is_foreign(python, frame)) continue;
    go_on = td_variables_each(python, frame, false, look, self);
    n++;
  }
  if (held) python->Py_DecRef(held);
}

/* Parameters that modules have only while they run. */
static void
find_shards(leaves *self) {
  td_module_tree_name_shards(self->python);
  for (size_t i = 0; i < self->n; i++) {
    uint32_t label = td_module_label_find(self->items[i].impl);
    if (!label) continue;
    self->items[i].named = true;
    self->n_named++;
    TD_EMIT(node_label, .node = self->items[i].node, .label = label);
  }
}

static void
name_all(void) {
  td_python_hold hold;
  own.python = td_python_find();
  own.n_named = 0;
  if (own.python && td_python_enter(own.python, &hold)) {
    qsort(own.items, own.n, sizeof *own.items, compare_leaves);
    bool has_tensors = td_tensors_start(own.python);
    if (has_tensors) find_shards(&own);
    if (has_tensors && own.n_named < own.n) search(&own);
    td_python_leave(own.python, hold);
  }
  for (size_t i = 0; i < own.n; i++)
    if (!own.items[i].named) {
      td_ids_set(tries, own.items[i].impl, n_tries(own.items[i].impl) + 1);
      td_ids_set(labels, own.items[i].impl, TD_NONE);
    }
  own.n = 0;
}

void
td_leaves_name(void) {
  if (own.n == 0) return;
  td_own_time time = td_own_begin();
  name_all();
  td_own_end(time, TD_recorder_work_leaves);
}
