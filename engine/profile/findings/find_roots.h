/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Values that passes begin at, as losses are. Passes whose roots were made in one place are alike;
 * of these, the last one counts. Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/finding.h"

/* Outermost passes that are alike. */
typedef struct td_root_history {
  uint32_t n_passes, n_bad, n_nan; /* n_nan: those of n_bad that have a NaN */
  bool is_bad, was_nan;            /* the last one; any of them */
  bool is_nan;                     /* the last one, and no optimizer made a step since */
  uint32_t n_stepped;              /* that were NaN, after which an optimizer made a step */
  uint32_t node;                   /* the root of the first bad one */
  uint64_t seq;
  char *name, *line; /* (owned) of that root, or NULL */
} td_root_history;

typedef struct td_find_roots {
  td_root_history *items; /* (owned) */
  uint32_t n, capacity;
  td_number_map numbers; /* by name and stack of the root: 1 + the item */
  td_number_map made;    /* by living node: its name and stack */
  td_number_map passes;  /* by outermost graph task: 1 + the item; 0 after its end */
  uint32_t made_forgotten_at, passes_forgotten_at;
} td_find_roots;

void td_find_roots_make(td_find_roots *self, const td_event_node_new *event);
void td_find_roots_free_node(td_find_roots *self, uint32_t node);
void td_find_roots_begin_pass(td_find_roots *self, const td_event_graph_task_begin *event);
void td_find_roots_look(td_find_roots *self, const td_event_root_look *event, uint64_t seq);
void td_find_roots_step(td_find_roots *self);
void td_find_roots_end_pass(td_find_roots *self, uint32_t graph_task);

/* td_find_roots_learn takes names of a segment's nodes. td_find_roots_tell adds what was found.
 * `leaves` has words of leaves whose last gradients are not finite, or NULL: that is one finding.
 */
void td_find_roots_learn(td_find_roots *self, const td_catalog *catalog);
void td_find_roots_tell(const td_find_roots *self, const char *leaves, td_findings *findings);

/* td_find_roots_has_bad returns true if the last of some alike passes began at such a value, or an
 * optimizer made a step after one that began at NaN. */
bool td_find_roots_has_bad(const td_find_roots *self);
void td_find_roots_fini(td_find_roots *self);
