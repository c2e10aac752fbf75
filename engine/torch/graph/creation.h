/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Node creation hooks: functions of a program that are called with each node when it is whole, what
 * it saved included. Each thread has a stack of them. An operation notes its nodes as they come;
 * whoever ends it calls the hooks, the outermost first. The embedding language does so after each
 * operation, the engine after each node. */
#pragma once

#include "engine/torch/graph/node.h"

typedef struct td_creation_hook td_creation_hook;
struct td_creation_hook {
  td_status (*call)(td_creation_hook *hook, td_node *node, td_error *error);
  void (*free)(td_creation_hook *hook);
  char *owner; /* (owned) a name for profiles, or NULL */
  td_refcount refs;
};

/* td_creation_push puts a hook (takes the reference) on the calling thread's stack, _pop drops the
 * innermost. A pass has those of the thread that called it. */
void td_creation_push(td_creation_hook *hook);
void td_creation_pop(void);

/* td_creation_note says that the calling thread has made a node, or put one above it. Noting a node
 * again before its hooks were called changes nothing. */
extern _Thread_local struct td_creation_level *td_creation_top;
void td_creation_note_node(td_node *node);
static inline void
td_creation_note(td_node *node) {
  if (TD_UNLIKELY(td_creation_top != NULL)) td_creation_note_node(node);
}

/* td_creation_hold(1) keeps the nodes that are noted from now on waiting, until
 * td_creation_hold(-1) says that they are whole. */
void td_creation_hold(int change);

/* While an operation calls the program for something that it saves, its nodes are not whole.
 * td_creation_set_aside takes those that wait, and td_creation_put_back makes them wait again. */
typedef struct td_creation_aside {
  td_node **nodes; /* (owned) of n owned references */
  uint32_t n;
} td_creation_aside;
td_creation_aside td_creation_set_aside(void);
void td_creation_put_back(td_creation_aside aside);

/* td_creation_forget drops the nodes that wait. td_creation_call calls the thread's hooks with the
 * nodes that were noted. The first failure ends it. TD_AUTOGRAD if a hook makes a node. */
extern _Thread_local bool td_creation_waits;
void td_creation_forget(void);
td_status td_creation_call_hooks(td_error *error);
static inline td_status
td_creation_call(td_error *error) {
  return TD_UNLIKELY(td_creation_waits) ? td_creation_call_hooks(error) : TD_OK;
}
