/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Why all gradients may be zero: functions without a slope, and hooks that ran before the stores.
 * Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/find_leaves.h"

/* The first hook of a pass that can change a gradient. */
typedef struct td_zeros_hook {
  uint32_t owner; /* string; 0: there was none */
  uint32_t node;
} td_zeros_hook;

typedef struct td_find_zeros {
  td_tape *tape;         /* (borrowed) set by the caller */
  uint32_t softmax;      /* 1 + the last node of one; 0: there was none */
  uint32_t single;       /* 1 + the first one whose result has a last dimension of one element */
  uint32_t single_shape; /* string: of that result */
  char *single_name, *single_line; /* (owned) or NULL */
  uint32_t flat;                   /* 1 + the first node of a function without a slope, or 0 */
  char *flat_name, *flat_line;     /* (owned) or NULL */
  td_zeros_hook now, hook;         /* of this outermost pass; of the first one with stores */
  bool has_stored;                 /* this pass */
  uint32_t n_passes, n_hooked;     /* with stores; those of them with a hook before these */
  char *hook_name;                 /* (owned) of its node, or NULL */
  bool has_numbers;                /* of what nodes gave out */
  td_number_map others;            /* by thread: 1 + the last node that gave out another number */
  uint32_t empty;                  /* 1 + the first node that gave out zeros alone, or 0 */
  char *empty_name;                /* (owned) or NULL */
} td_find_zeros;

/* td_find_zeros_make takes a node's name too, td_find_zeros_save the shape of what it saved. */
void td_find_zeros_make(td_find_zeros *self, uint32_t node, const char *name);
void td_find_zeros_save(td_find_zeros *self, const td_event_saved_tensor *event, const char *shape);
void td_find_zeros_hook(td_find_zeros *self, const td_event_hook_begin *event);
void td_find_zeros_measure(td_find_zeros *self, const td_event_tensor_stats *event);
void td_find_zeros_store(td_find_zeros *self);

/* td_find_zeros_end_pass says that an outermost pass has ended. */
void td_find_zeros_end_pass(td_find_zeros *self);

/* td_find_zeros_learn takes names of a segment's nodes. td_find_zeros_tell adds what was found on
 * the whole tape. */
void td_find_zeros_learn(td_find_zeros *self, const td_catalog *catalog);
void td_find_zeros_tell(const td_find_zeros *self, const td_find_leaves *leaves, td_tape *tape,
                        td_findings *findings);
void td_find_zeros_fini(td_find_zeros *self);
