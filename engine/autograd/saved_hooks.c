/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/autograd/saved_hooks.h"

#include "engine/base/alloc.h"

typedef struct level {
  td_saved_hooks *hooks; /* (owned reference) */
  struct level *below;
} level;

static _Thread_local struct {
  level *top;
  char *message; /* (owned) why they are disabled, or NULL */
} stack;

void
td_saved_hooks_unref(td_saved_hooks *hooks) {
  if (hooks && td_refcount_dec(&hooks->refs)) hooks->free(hooks);
}

td_status
td_saved_hooks_push(td_saved_hooks *hooks, td_error *error) {
  if (stack.message) {
    td_saved_hooks_unref(hooks);
    return td_error_set(error, TD_AUTOGRAD, "%s", stack.message);
  }
  level *top = TD_NEW(level);
  *top = (level){hooks, stack.top};
  stack.top = top;
  return TD_OK;
}

void
td_saved_hooks_pop(void) {
  level *top = stack.top;
  if (!top) return;
  stack.top = top->below;
  td_saved_hooks_unref(top->hooks);
  free(top);
}

td_saved_hooks *
td_saved_hooks_now(void) {
  return stack.top ? stack.top->hooks : NULL;
}

td_status
td_saved_hooks_disable(const char *message, td_error *error) {
  if (message && stack.top) return td_error_set(error, TD_AUTOGRAD, "%s", message);
  char *copy = message ? td_dup_string(message) : NULL;
  free(stack.message);
  stack.message = copy;
  return TD_OK;
}

const char *
td_saved_hooks_disabled(void) {
  return stack.message;
}
