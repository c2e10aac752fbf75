/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/creation.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/thread_locals.h"

/* A thread's stack as a list that never changes, so that passes may share it. */
typedef struct td_creation_level {
  td_creation_hook *hook;          /* (owned reference) */
  struct td_creation_level *below; /* (owned reference) */
  td_refcount refs;
} level;

_Thread_local level *td_creation_top;
_Thread_local bool td_creation_waits;

static _Thread_local struct {
  td_creation_aside waiting;
  int held;
  bool calling;
} self;

static void
hook_unref(td_creation_hook *hook) {
  if (!td_refcount_dec(&hook->refs)) return;
  free(hook->owner);
  hook->free(hook);
}

static void
level_unref(level *top) {
  while (top && td_refcount_dec(&top->refs)) {
    level *below = top->below;
    hook_unref(top->hook);
    free(top);
    top = below;
  }
}

void
td_creation_push(td_creation_hook *hook) {
  level *top = TD_NEW(level);
  td_refcount_init(&top->refs);
  top->hook = hook;
  top->below = td_creation_top;
  td_creation_top = top;
  td_thread_local_changed();
}

void
td_creation_pop(void) {
  level *top = td_creation_top;
  if (!top) return;
  td_creation_top = top->below;
  if (top->below) td_refcount_inc(&top->below->refs);
  level_unref(top);
  td_thread_local_changed();
}

void
td_creation_note_node(td_node *node) {
  for (uint32_t i = 0; i < self.waiting.n; i++)
    if (self.waiting.nodes[i] == node) return;
  self.waiting.nodes = td_realloc(self.waiting.nodes, self.waiting.n + 1, sizeof(td_node *));
  self.waiting.nodes[self.waiting.n++] = td_node_ref(node);
  td_creation_waits = true;
}

void
td_creation_hold(int change) {
  self.held += change;
}

td_creation_aside
td_creation_set_aside(void) {
  td_creation_aside aside = self.waiting;
  self.waiting = (td_creation_aside){0};
  td_creation_waits = false;
  return aside;
}

static void
drop(td_creation_aside nodes) {
  for (uint32_t i = 0; i < nodes.n; i++)
    td_node_unref(nodes.nodes[i]);
  free(nodes.nodes);
}

void
td_creation_put_back(td_creation_aside aside) {
  td_creation_aside later = td_creation_set_aside();
  self.waiting = aside;
  td_creation_waits = aside.n > 0;
  for (uint32_t i = 0; i < later.n; i++)
    td_creation_note_node(later.nodes[i]);
  drop(later);
}

void
td_creation_forget(void) {
  drop(td_creation_set_aside());
}

static td_status
refuse_new_node(td_error *error) {
  char *name = td_node_qualified_name(self.waiting.nodes[0]);
  td_error_set(error, TD_AUTOGRAD,
               "Creating a new autograd node from inside a node creation hook is not supported. "
               "Node creation hooks should only observe the node (e.g. record it, stash metadata, "
               "or register backward hooks on it); got a new node of type %s while a hook was "
               "running.",
               name);
  free(name);
  td_creation_forget();
  return TD_AUTOGRAD;
}

static td_status
call_one(td_creation_hook *hook, td_node *node, td_error *error) {
  TD_EMIT(hook_begin, .node = td_node_id(node), .kind = TD_hook_kind_creation,
          .owner = td_intern(hook->owner));
  self.calling = true;
  td_status status = hook->call(hook, node, error);
  if (!status) status = td_creation_call(error);
  self.calling = false;
  TD_EMIT(hook_end, .node = td_node_id(node), .kind = TD_hook_kind_creation);
  return status;
}

/* The outermost hook is the lowest level. */
static td_status
call_levels(level *top, td_node *node, td_error *error) {
  if (!top) return TD_OK;
  td_status status = call_levels(top->below, node, error);
  return status ? status : call_one(top->hook, node, error);
}

td_status
td_creation_call_hooks(td_error *error) {
  if (self.held > 0) return TD_OK;
  if (self.calling) return refuse_new_node(error);
  td_creation_aside made = td_creation_set_aside();
  level *top = td_creation_top;
  td_status status = TD_OK;
  if (top) td_refcount_inc(&top->refs);
  for (uint32_t i = 0; i < made.n && !status; i++) {
    td_node_announce(made.nodes[i]);
    status = call_levels(top, made.nodes[i], error);
  }
  level_unref(top);
  drop(made);
  return status;
}

static void *
save(void) {
  if (td_creation_top) td_refcount_inc(&td_creation_top->refs);
  return td_creation_top;
}

static void
install(void *value) {
  level *before = td_creation_top;
  td_creation_top = value;
  if (value) td_refcount_inc(&td_creation_top->refs);
  level_unref(before);
}

static void
release(void *value) {
  level_unref(value);
}

__attribute__((constructor)) static void
add_class(void) {
  static const td_thread_local_class klass = {save, install, release};
  td_thread_local_add(&klass);
}
