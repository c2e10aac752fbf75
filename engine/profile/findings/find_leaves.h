/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What leaves store from pass to pass, and what optimizers make of it. Private to
 * engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/finding.h"

/* A leaf by its label. All leaves without one are one leaf, of which only the last pass counts. */
typedef struct td_leaf_history {
  uint32_t name; /* string; 0: it has none */
  uint32_t node; /* of its last store */
  uint64_t seq;  /* of its first one */
  uint32_t owner;
  bool has_owner, is_shared;         /* by two optimizers */
  bool was_nan, was_inf;             /* in the pass of its last store */
  uint32_t pass;                     /* the graph task of its last store */
  uint32_t n_stores, n_zeros, n_bad; /* n_bad: of the last ones on end that were not finite */
  uint32_t bad_node;                 /* of the first of these */
  uint64_t bad_seq;
  bool is_counting;           /* since its optimizer's step */
  uint32_t n_now, n_kept_now; /* stores since then, and those that added to something */
  uint32_t n_filled_now;      /* and those that were not zero */
  uint64_t kept_seq, first_kept_seq;
  uint32_t n_steps, n_kept_steps; /* of its optimizer, with stores before them */
  uint32_t n_idle;                /* steps of its optimizer since its last store */
  bool is_late, was_idle;         /* stored after a step without; in between too */
  uint32_t missing_step;          /* at which it had no gradient, nor later; or 0 */
  uint64_t missing_seq;
  uint32_t frozen_step; /* at which it was frozen and had a gradient from before; or 0 */
  uint64_t frozen_seq;
  /* If a ReLU passed nothing on to it, 1 + the item of a leaf behind that ReLU, which got other
   * gradients than zero; else 0. */
  uint32_t alive;
} td_leaf_history;

/* An optimizer's steps, and those that had no gradient though passes had stored some. */
typedef struct td_step_history {
  uint32_t n_steps, n_empty;
  uint64_t seq;  /* of the first of these */
  uint32_t leaf; /* an item that had got a gradient before it */
} td_step_history;

typedef struct td_find_leaves {
  td_tape *tape;          /* (borrowed) set by the caller */
  td_leaf_history *items; /* (owned) */
  uint32_t n, capacity;
  td_number_map numbers;  /* by name: 1 + the item */
  td_number_map labels;   /* by node: its name; once it is freed, 0 */
  uint32_t forgotten_at;  /* size of the labels */
  td_number_map seen;     /* by node: bits of td_leaf_sight, of the looks before its store */
  td_number_map owned;    /* by name: 1 + the optimizer */
  td_number_map orphans;  /* names without a gradient: 1 */
  td_number_map steppers; /* by optimizer: 1 + its place among `steps` */
  td_step_history *steps; /* (owned) */
  uint32_t n_steppers, steps_capacity;
  uint32_t relu;               /* 1 + the first one that passed nothing on, or 0 */
  char *relu_name, *relu_line; /* (owned) or NULL */
} td_find_leaves;

void td_find_leaves_label(td_find_leaves *self, const td_event_node_label *event);
void td_find_leaves_free_node(td_find_leaves *self, uint32_t node);

/* The order of their events: td_find_leaves_begin, then td_find_leaves_look, then
 * td_find_leaves_store. What a hook changes after its leaf has begun was not looked at. */
void td_find_leaves_begin(td_find_leaves *self, uint32_t node);
void td_find_leaves_hook(td_find_leaves *self, const td_event_hook_begin *event);
void td_find_leaves_look(td_find_leaves *self, const td_event_leaf_look *event);
void td_find_leaves_store(td_find_leaves *self, const td_event_accumulate *event, uint64_t seq);
void td_find_leaves_own(td_find_leaves *self, const td_event_optimizes *event);
void td_find_leaves_step(td_find_leaves *self, uint32_t optimizer);
void td_find_leaves_lose(td_find_leaves *self, const td_event_gradient_missing *event,
                         uint64_t seq);
void td_find_leaves_empty(td_find_leaves *self, const td_event_step_empty *event, uint64_t seq);
void td_find_leaves_freeze(td_find_leaves *self, const td_event_frozen_step *event, uint64_t seq);
void td_find_leaves_miss(td_find_leaves *self, uint32_t name);

/* td_find_leaves_dup_nonfinite returns words of the leaves whose last gradient is not finite, or
 * NULL. The caller frees. td_find_leaves_tell_nonfinite adds what was found of these,
 * td_find_leaves_tell the rest. */
char *td_find_leaves_dup_nonfinite(const td_find_leaves *self, td_tape *tape);
void td_find_leaves_tell_nonfinite(const td_find_leaves *self, td_tape *tape,
                                   td_findings *findings);

/* td_find_leaves_dup_zeros returns words of all leaves if each got zeros alone, else NULL. The
 * caller frees. */
char *td_find_leaves_dup_zeros(const td_find_leaves *self, td_tape *tape,
                               const td_leaf_history **first);

/* td_find_leaves_interrupt says that the tape lacks passes here. */
void td_find_leaves_interrupt(td_find_leaves *self);

/* td_find_leaves_owner returns 1 + the optimizer that alone has the leaf of a node, else 0. */
uint32_t td_find_leaves_owner(const td_find_leaves *self, uint32_t node);

/* td_find_leaves_label_of returns a leaf's name, a string, or 0. */
uint32_t td_find_leaves_label_of(const td_find_leaves *self, uint32_t node);

/* td_find_leaves_learn takes names of a segment's nodes, and what lies between them.
 * td_find_leaves_tell adds what was found on the whole tape. */
void td_find_leaves_learn(td_find_leaves *self, const td_catalog *catalog);
void td_find_leaves_tell(const td_find_leaves *self, td_tape *tape, td_findings *findings);

/* td_find_leaves_replaced returns parameters, by name, that lack a gradient because the program
 * replaced them, if a finding of leaves says so already; else NULL. Borrowed. */
const td_number_map *td_find_leaves_replaced(const td_find_leaves *self, td_tape *tape);
void td_find_leaves_fini(td_find_leaves *self);
