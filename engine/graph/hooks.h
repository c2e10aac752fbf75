/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hooks: functions of a program that the engine calls with the gradients at a node. A node's lists
 * are made with its first hook; a node without any costs a pass one pointer that is NULL. Hooks may
 * be added and removed by any thread at any time, by a hook that is running too: what is called is
 * the list of the moment when its turn comes.
 *
 * Note [Order of hooks]
 * What comes before a node's function, in PyTorch 2: tensor hooks, those of one input together, in
 * the order of the inputs' first hooks; then retained gradients; then the node's own pre-hooks; and
 * the first two also where the node's gradient is only captured. Without td_policy(separate_hooks)
 * they are one list: hooks of one kind and input stay together, where the first of them was added;
 * a leaf's tensor hooks are called by AccumulateGrad itself, and captured gradients are taken
 * before any hook. */
#pragma once

#include "engine/graph/node.h"

/* What a hook is called with. It may replace gradients[i] by a new reference (it then drops the old
 * one): of tensor_pre and retains_grad the one gradient of their input; of pre the node's inputs;
 * of post its outputs, `inputs` being what it was given. For post_accumulate_grad gradients[0] is
 * the leaf, and is not to be replaced. NULL: an undefined gradient. */
typedef struct td_hook_call {
  td_node *node;
  td_tensor **gradients; /* (owned references) [n] */
  uint32_t n;
  td_tensor *const *inputs; /* [n_inputs], 0 for a post hook that was added while its node ran */
  uint32_t n_inputs;
} td_hook_call;

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

/* td_node_add_hook puts a hook into a node's lists, which hold a reference to it. It must be in no
 * list. td_hook_remove takes it out of the list that it is in, if any. */
void td_node_add_hook(td_node *node, td_hook *hook, td_hook_kind kind, uint32_t input_nr);
void td_hook_remove(td_hook *hook);

/* td_node_has_hooks tells whether a node has hooks of one of these kinds: bits of TD_HOOKS. */
#define TD_HOOKS(kind) (1u << TD_hook_kind_##kind)
#define TD_HOOKS_OF_TENSORS (TD_HOOKS(tensor_pre) | TD_HOOKS(retains_grad))
#define TD_HOOKS_BEFORE (TD_HOOKS_OF_TENSORS | TD_HOOKS(pre))
bool td_hooks_have(td_hooks *hooks, unsigned kinds);
static inline bool
td_node_has_hooks(const td_node *node, unsigned kinds) {
  td_hooks *hooks = atomic_load_explicit(&((td_node *)node)->hooks, memory_order_acquire);
  return __builtin_expect(hooks != NULL, 0) && td_hooks_have(hooks, kinds);
}

/* td_node_call_hooks calls a node's hooks of these kinds, one after the other, on its gradients
 * [n] (owned references, in place): inputs, outputs, or the leaf. `called`, which may be NULL, is
 * told of each that has returned. Emits hook_begin and hook_end. The first failure ends it. */
typedef void (*td_hook_called)(const td_hook *hook, void *data);
td_status td_node_call_hooks(unsigned kinds, const td_hook_call *call, td_hook_called called,
                             void *data, td_error *error);

/* The lists themselves, also of a leaf, whose hooks outlive its AccumulateGrad.
 * td_hooks_of_leaf makes an AccumulateGrad call its leaf's hooks too; they outlive the node. */
td_hooks *td_hooks_new(void);
void td_hooks_free(td_hooks *hooks);  /* NULL is fine */
void td_hooks_clear(td_hooks *hooks); /* NULL is fine; the hooks are then in no list */
void td_hooks_add(td_hooks *hooks, td_hook *hook, td_hook_kind kind, uint32_t input_nr);
void td_hooks_of_leaf(td_node *node, td_hooks *leaf);

/* td_hooks_visit calls visit for each hook of a list, or until it returns nonzero, which it
 * returns: for those who look for cycles of references. The caller sees to it that nobody changes
 * the list. */
int td_hooks_visit(const td_hooks *hooks, int (*visit)(td_hook *hook, void *data), void *data);
