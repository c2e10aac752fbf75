/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hooks: functions of a program that the engine calls with gradients, and the lists that hold them.
 * Any thread may add and remove hooks at any time, also while a hook runs. The engine calls the
 * hooks that a list has when its turn comes.
 *
 * Note [Order of hooks]
 * In PyTorch 2, three kinds of hooks come before a node's function. First come tensor hooks, those
 * of one input together, in the order of the inputs' first hooks. Then come retained gradients,
 * then the node's own pre-hooks. If the gradient is only captured, the first two kinds run all the
 * same. Without td_policy(separate_hooks) all are one list: hooks of one kind and input stay
 * together, where the first of them was added. AccumulateGrad itself then calls its leaf's tensor
 * hooks, and captured gradients are taken before any hook. */
#pragma once

#include "engine/base/refcount.h"
#include "engine/base/status.h"
#include "engine/events/event.h"
#include "engine/torch/graph/edge.h"
#include "engine/torch/tensor/tensor.h"

/* The argument of a hook. `gradients` are the one gradient of their input for tensor_pre and
 * retains_grad, the node's inputs for pre, and its outputs for post. A hook may replace
 * gradients[i] by a new reference; it then drops the old one. For post_accumulate_grad,
 * gradients[0] is the leaf, which a hook does not replace. NULL: an undefined gradient. */
typedef struct td_hook_call {
  td_node *node;
  td_tensor **gradients; /* (owned references) [n] */
  uint32_t n;
  td_tensor *const *inputs; /* [n_inputs], 0 for a post hook that was added while its node ran */
  uint32_t n_inputs;
} td_hook_call;

/* The hooks of one node, or of a leaf, whose hooks outlive its AccumulateGrad. */
typedef struct td_hooks td_hooks;

/* Embedded as their first member by whoever makes hooks. */
typedef struct td_hook td_hook;
struct td_hook {
  /* call is for engine threads. On failure the gradients are as valid as they were. */
  td_status (*call)(td_hook *hook, const td_hook_call *call, td_error *error);
  void (*free)(td_hook *hook); /* what the hook owns, and itself */
  char *owner;                 /* (owned) a name for profiles, or NULL */
  td_hook_kind kind;           /* this and the next: of the list it is in */
  uint32_t input_nr;           /* of tensor_pre and retains_grad */
  td_hooks *list;              /* (borrowed) or NULL: in none; guarded by the lists' mutex */
  td_hook *next;
  td_refcount refs; /* the maker's, the list's, and of whoever is calling it */
};

/* td_hook_init fills in a zeroed hook, and takes `owner`; its maker holds the one reference. */
void td_hook_init(td_hook *hook, td_status (*call)(td_hook *, const td_hook_call *, td_error *),
                  void (*free)(td_hook *), char *owner);
td_hook *td_hook_ref(td_hook *hook);
void td_hook_unref(td_hook *hook); /* NULL is fine */

/* td_hook_remove takes a hook out of the list that it is in, if any. */
void td_hook_remove(td_hook *hook);

/* Sets of kinds: bits of TD_HOOKS. */
#define TD_HOOKS(kind) (1u << TD_hook_kind_##kind)
#define TD_HOOKS_OF_TENSORS (TD_HOOKS(tensor_pre) | TD_HOOKS(retains_grad))
#define TD_HOOKS_BEFORE (TD_HOOKS_OF_TENSORS | TD_HOOKS(pre))

td_hooks *td_hooks_new(void);
void td_hooks_free(td_hooks *hooks);  /* NULL is fine */
void td_hooks_clear(td_hooks *hooks); /* NULL is fine; the hooks are then in no list */

/* td_hooks_add puts a hook that is in no list into this one, which holds a reference to it. */
void td_hooks_add(td_hooks *hooks, td_hook *hook, td_hook_kind kind, uint32_t input_nr);

/* td_hooks_set_leaf makes the hooks of a leaf (borrowed) part of those of its AccumulateGrad. */
void td_hooks_set_leaf(td_hooks *hooks, td_hooks *leaf);

/* td_hooks_have tells whether there are hooks of one of these kinds, a leaf's included. */
bool td_hooks_have(td_hooks *hooks, unsigned kinds);

/* td_hooks_hold returns the hooks of these kinds that are there now, in the order of their calls,
 * with a reference to each. The caller frees the array of *n. */
td_hook **td_hooks_hold(const td_hooks *hooks, unsigned kinds, size_t *n);

/* td_hooks_visit calls visit for each hook of a list, or until it returns nonzero, which it
 * returns: for those who look for cycles of references. The caller sees to it that nobody changes
 * the list. */
int td_hooks_visit(const td_hooks *hooks, int (*visit)(td_hook *hook, void *data), void *data);
