/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/saved_hooks.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/thread_locals.h"

/* A thread's stack as a list that never changes, so that passes may share it. */
typedef struct level {
  td_saved_hooks *hooks; /* (owned reference), or NULL: a refusal of all that is pushed above */
  char *message;         /* (owned) of a refusal */
  struct level *below;   /* (owned reference) */
  td_refcount refs;
} level;

static _Thread_local level *top;

void
td_saved_hooks_unref(td_saved_hooks *hooks) {
  if (hooks && td_refcount_dec(&hooks->refs)) hooks->free(hooks);
}

static void
level_unref(level *self) {
  while (self && td_refcount_dec(&self->refs)) {
    level *below = self->below;
    td_saved_hooks_unref(self->hooks);
    free(self->message);
    free(self);
    self = below;
  }
}

static void
push(td_saved_hooks *hooks, char *message) {
  level *self = TD_NEW(level);
  td_refcount_init(&self->refs);
  self->hooks = hooks;
  self->message = message;
  self->below = top;
  top = self;
  td_thread_local_changed();
}

static void
pop(void) {
  level *self = top;
  top = self->below;
  if (top) td_refcount_inc(&top->refs);
  level_unref(self);
  td_thread_local_changed();
}

td_status
td_saved_hooks_push(td_saved_hooks *hooks, td_error *error) {
  if (top && top->message) {
    td_saved_hooks_unref(hooks);
    return td_error_set(error, TD_AUTOGRAD, "%s", top->message);
  }
  push(hooks, NULL);
  return TD_OK;
}

void
td_saved_hooks_pop(void) {
  if (top && top->hooks) pop();
}

td_saved_hooks *
td_saved_hooks_now(void) {
  return top ? top->hooks : NULL;
}

td_status
td_saved_hooks_disable(const char *message, td_error *error) {
  if (message && td_saved_hooks_now()) return td_error_set(error, TD_AUTOGRAD, "%s", message);
  if (top && top->message) pop();
  if (message) push(NULL, td_dup_string(message));
  return TD_OK;
}

const char *
td_saved_hooks_disabled(void) {
  return top ? top->message : NULL;
}

static void *
save(void) {
  if (top) td_refcount_inc(&top->refs);
  return top;
}

static void
install(void *value) {
  level *before = top;
  top = value;
  if (top) td_refcount_inc(&top->refs);
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
