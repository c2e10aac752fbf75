/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What nodes hold in memory at a moment, and the largest of it. Zero-initialise. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TD_HOLDING_GROUPS(X): saved tensors are `saved`, or `kept` if a pass with keep_graph ran their
 * node. A buffer has the gradients that a node waits for, or works on. */
#define TD_HOLDING_GROUPS(X) X(saved) X(kept) X(buffer) X(gradient)

typedef enum td_holding_group {
#define X(name) TD_HELD_##name,
  TD_HOLDING_GROUPS(X)
#undef X
      TD_N_HOLDING_GROUPS
} td_holding_group;

/* A place in the heap of its group. Of several holdings that share a storage, one has a place. */
typedef struct td_holding {
  td_holding_group group;
  uint64_t bytes;
  uint64_t since_seq;    /* event number */
  uint32_t node, number; /* the node's saved tensor or result */
  bool is_leaf;          /* the gradient of one */
  uint32_t name;         /* of a leaf: its owner's text, 0 as long as it has none */
  uint32_t shape, dtype; /* strings of the tape; "" if unknown */
  uint32_t n_sharing;    /* of one with a place: the others of its storage */
  uint64_t key;          /* its owner's */
  uint32_t next;         /* free for the owner: 1 + another holding, or 0 */
  uint32_t left, right;  /* in a ring; alone in it at first */
  uint32_t place;        /* in the heap, or TD_NONE */
} td_holding;

typedef struct td_holding_entry {
  uint64_t bytes;
  uint32_t holding;
} td_holding_entry;

typedef struct td_holding_heap {
  td_holding_entry *entries; /* (owned) the largest first */
  uint32_t n, capacity;
} td_holding_heap;

typedef struct td_holdings {
  td_holding *items; /* (owned) */
  uint32_t n, capacity;
  uint32_t first_free; /* 1 + a holding, or 0; linked by `next` */
  td_holding_heap heaps[TD_N_HOLDING_GROUPS];
  uint64_t bytes[TD_N_HOLDING_GROUPS]; /* sums */
} td_holdings;

/* td_holdings_add copies a holding and returns its number. It is alone in its ring. */
uint32_t td_holdings_add(td_holdings *self, td_holding holding);

/* td_holdings_remove forgets a holding. If it had a place, the next of its ring gets the place, and
 * at least its bytes. td_holdings_join puts a holding into the ring of another one, right of it.
 * td_holdings_share puts one of the same storage at the end of that ring, where it has no place. */
void td_holdings_remove(td_holdings *self, uint32_t holding);
void td_holdings_join(td_holdings *self, uint32_t holding, uint32_t other);
void td_holdings_share(td_holdings *self, uint32_t holding, uint32_t other);

void td_holdings_set_bytes(td_holdings *self, uint32_t holding, uint64_t bytes);
void td_holdings_set_group(td_holdings *self, uint32_t holding, td_holding_group group);

/* td_holdings_list writes the numbers of the largest holdings of some groups (a mask), at most
 * `limit`, the largest first; of equal ones the oldest. It returns how many there are. */
uint32_t td_holdings_list(const td_holdings *self, unsigned groups, uint32_t *out, uint32_t limit);

void td_holdings_fini(td_holdings *self);
