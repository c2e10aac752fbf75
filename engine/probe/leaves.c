/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The search costs microseconds for each pass. So a leaf that was sought in vain a few times is not
 * sought again. Another leaf may come to its address, and then has no name: that is not untrue. */
#include "engine/probe/leaves.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/probe/ids.h"
#include "engine/probe/stacks.h"
#include "engine/probe/tensors.h"
#include "engine/probe/variables.h"

#include <pthread.h>

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
static td_ids *tries; /* (owned) by the address of a leaf */

static void
make_tries_cb(void) {
  tries = td_ids_new();
}

static uint32_t
n_tries(const void *impl) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_tries_cb);
  uint32_t n = td_ids_find(tries, impl);
  return n == TD_NONE ? 0 : n;
}

void
td_leaves_want(uint32_t node, const void *impl) {
  if (!td_stacks_has_names() || n_tries(impl) >= TRIES_MAX) return;
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
  TD_EMIT(node_label, .node = found->node, .label = td_intern(name));
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

void
td_leaves_name(void) {
  td_python_hold hold;
  if (own.n == 0) return;
  own.python = td_python_find();
  own.n_named = 0;
  if (own.python && td_python_enter(own.python, &hold)) {
    qsort(own.items, own.n, sizeof *own.items, compare_leaves);
    if (td_tensors_start(own.python)) search(&own);
    td_python_leave(own.python, hold);
  }
  for (size_t i = 0; i < own.n; i++)
    if (!own.items[i].named) td_ids_set(tries, own.items[i].impl, n_tries(own.items[i].impl) + 1);
  own.n = 0;
}
