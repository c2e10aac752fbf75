/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/hooks.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/semantics.h"

#include <pthread.h>

/* Hooks of all kinds in one list, in the order of their calls within each kind. */
struct td_hooks {
  td_hook *first;         /* (owned references) */
  td_hooks *leaf;         /* (borrowed) of an AccumulateGrad's variable, or NULL */
  _Atomic uint32_t kinds; /* bits: those that were ever added */
};

static pthread_mutex_t lists_mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all lists */

void
td_hook_init(td_hook *hook, td_status (*call)(td_hook *, const td_hook_call *, td_error *),
             void (*free)(td_hook *), char *owner) {
  td_refcount_init(&hook->refs);
  hook->call = call;
  hook->free = free;
  hook->owner = owner;
}

td_hook *
td_hook_ref(td_hook *hook) {
  td_refcount_inc(&hook->refs);
  return hook;
}

void
td_hook_unref(td_hook *hook) {
  if (!hook || !td_refcount_dec(&hook->refs)) return;
  free(hook->owner);
  hook->free(hook);
}

td_hooks *
td_hooks_new(void) {
  return TD_NEW(td_hooks);
}

void
td_hooks_clear(td_hooks *hooks) {
  if (!hooks) return;
  pthread_mutex_lock(&lists_mutex);
  td_hook *left = hooks->first;
  hooks->first = NULL;
  for (td_hook *hook = left; hook; hook = hook->next)
    hook->list = NULL;
  pthread_mutex_unlock(&lists_mutex);
  while (left) {
    td_hook *hook = left;
    left = hook->next;
    td_hook_unref(hook);
  }
}

void
td_hooks_free(td_hooks *hooks) {
  td_hooks_clear(hooks);
  free(hooks);
}

/* Hooks of one kind and input are a group, as those of one tensor are in PyTorch. */
static bool
is_same_group(const td_hook *a, const td_hook *b) {
  return a->kind == b->kind && a->input_nr == b->input_nr;
}

/* Before whom a hook of a new group stands: Note [Order of hooks]. */
static bool
comes_before(const td_hook *hook, const td_hook *other) {
  static const int rank[TD_hook_kind_LIMIT] = {
      [TD_hook_kind_tensor_pre] = 0, [TD_hook_kind_retains_grad] = 1,
      [TD_hook_kind_pre] = 2,        [TD_hook_kind_post] = 3,
      [TD_hook_kind_capture] = 4,    [TD_hook_kind_post_accumulate_grad] = 5};
  return td_policy(separate_hooks) && rank[hook->kind] < rank[other->kind];
}

static td_hook **
place_for(td_hooks *hooks, const td_hook *hook) {
  td_hook **place = NULL;
  for (td_hook **link = &hooks->first; *link; link = &(*link)->next)
    if (is_same_group(*link, hook)) place = &(*link)->next;
  if (place) return place;
  td_hook **link = &hooks->first;
  while (*link && !comes_before(hook, *link))
    link = &(*link)->next;
  return link;
}

void
td_hooks_add(td_hooks *hooks, td_hook *hook, td_hook_kind kind, uint32_t input_nr) {
  hook->kind = kind;
  hook->input_nr = input_nr;
  pthread_mutex_lock(&lists_mutex);
  td_hook **place = place_for(hooks, hook);
  hook->list = hooks;
  hook->next = *place;
  *place = td_hook_ref(hook);
  atomic_fetch_or_explicit(&hooks->kinds, 1u << kind, memory_order_relaxed);
  pthread_mutex_unlock(&lists_mutex);
}

void
td_hook_remove(td_hook *hook) {
  pthread_mutex_lock(&lists_mutex);
  td_hooks *list = hook->list;
  hook->list = NULL;
  if (list) {
    td_hook **link = &list->first;
    while (*link != hook)
      link = &(*link)->next;
    *link = hook->next;
  }
  pthread_mutex_unlock(&lists_mutex);
  if (list) td_hook_unref(hook);
}

void
td_hooks_set_leaf(td_hooks *hooks, td_hooks *leaf) {
  pthread_mutex_lock(&lists_mutex);
  hooks->leaf = leaf;
  pthread_mutex_unlock(&lists_mutex);
}

static bool
have_locked(const td_hooks *hooks, unsigned kinds) {
  if (!hooks || !(atomic_load_explicit(&hooks->kinds, memory_order_relaxed) & kinds)) return false;
  for (const td_hook *hook = hooks->first; hook; hook = hook->next)
    if (1u << hook->kind & kinds) return true;
  return false;
}

bool
td_hooks_have(td_hooks *hooks, unsigned kinds) {
  pthread_mutex_lock(&lists_mutex);
  bool have = have_locked(hooks, kinds) || have_locked(hooks->leaf, kinds);
  pthread_mutex_unlock(&lists_mutex);
  return have;
}

/* An array that grows. */
typedef struct held_hooks {
  td_hook **at; /* (owned) */
  size_t n, capacity;
} held_hooks;

static void
hold_locked(held_hooks *held, const td_hooks *hooks, unsigned kinds) {
  for (td_hook *hook = hooks ? hooks->first : NULL; hook; hook = hook->next) {
    if (!(1u << hook->kind & kinds)) continue;
    TD_GROW(held->at, held->n, held->capacity);
    held->at[held->n++] = td_hook_ref(hook);
  }
}

/* A leaf's tensor hooks come before those of its node; it has no others. */
td_hook **
td_hooks_hold(const td_hooks *hooks, unsigned kinds, size_t *n) {
  held_hooks held = {0};
  pthread_mutex_lock(&lists_mutex);
  hold_locked(&held, hooks->leaf, kinds);
  hold_locked(&held, hooks, kinds);
  pthread_mutex_unlock(&lists_mutex);
  *n = held.n;
  return held.at;
}

int
td_hooks_visit(const td_hooks *hooks, int (*visit)(td_hook *hook, void *data), void *data) {
  for (td_hook *hook = hooks ? hooks->first : NULL; hook; hook = hook->next) {
    int result = visit(hook, data);
    if (result) return result;
  }
  return 0;
}
