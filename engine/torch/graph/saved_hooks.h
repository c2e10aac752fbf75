/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Saved-tensor hooks: a pair of functions that turn what a node would keep into something else, and
 * back. Each thread has a stack of pairs; the innermost is in force for what the thread saves. */
#pragma once

#include "engine/torch/graph/node.h"

typedef struct td_saved_hooks td_saved_hooks;
struct td_saved_hooks {
  /* pack writes an object that stands for the tensor (borrowed); unpack writes a new reference to
   * the tensor it stands for. Any thread, without locks of the engine but a node's mutex. */
  td_status (*pack)(td_saved_hooks *hooks, td_tensor *tensor, void **object, td_error *error);
  td_status (*unpack)(td_saved_hooks *hooks, void *object, td_tensor **tensor, td_error *error);
  void (*free_object)(td_saved_hooks *hooks, void *object);
  void (*free)(td_saved_hooks *hooks);
  td_refcount refs;
};

void td_saved_hooks_unref(td_saved_hooks *hooks);

/* td_saved_hooks_push puts a pair (takes the reference) on the calling thread's stack, _pop drops
 * the innermost. While hooks are disabled, push fails: TD_AUTOGRAD with the message given to
 * _disable. */
td_status td_saved_hooks_push(td_saved_hooks *hooks, td_error *error);
void td_saved_hooks_pop(void);

/* td_saved_hooks_now borrows the innermost pair, or NULL. */
td_saved_hooks *td_saved_hooks_now(void);

/* td_saved_hooks_disable refuses pairs with `message` from now on: TD_AUTOGRAD with that message if
 * the thread has pairs. NULL enables them again. _disabled returns the message, or NULL. */
td_status td_saved_hooks_disable(const char *message, td_error *error);
const char *td_saved_hooks_disabled(void);
