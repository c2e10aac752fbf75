/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which leaves the latest outermost pass of each process leads to, and how many passes it has
 * begun. Two ranks in the same pass lead to the same parameters, unless one of them took another
 * branch. One thread at a time. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/events/event.h"

#include <stdbool.h>

/* What a process did. */
typedef struct td_pass_leaves_of {
  uint64_t n_begun;               /* outermost passes */
  uint32_t graph_task;            /* of the latest, or TD_NONE */
  bool is_under_way, is_confused; /* passes of several threads at the same time */
  uint32_t *nodes;                /* (owned) that the latest pass and those inside it lead to */
  uint32_t n_nodes, nodes_capacity;
  uint64_t *freed; /* (owned) keys of labels that are forgotten with the next pass */
  uint32_t n_freed, freed_capacity;
} td_pass_leaves_of;

typedef struct td_pass_leaves {
  td_pass_leaves_of *processes; /* (owned) */
  uint32_t n, capacity;
  td_number_map labels; /* of (process, node): a text of the caller, who keeps it */
  uint32_t forgotten_at;
} td_pass_leaves;

/* These take the events of a process, in their order. td_pass_leaves_take passes an event on to
 * the others; `label` is the text of a node_label. It takes what is no news for nothing. */
void td_pass_leaves_take(td_pass_leaves *self, uint32_t process, const td_any_event *event,
                         const char *label);
void td_pass_leaves_fini(td_pass_leaves *self);

/* td_pass_leaves_n_begun returns how many outermost passes a process has begun. */
uint64_t td_pass_leaves_n_begun(const td_pass_leaves *self, uint32_t process);

/* td_pass_leaves_missing writes the labels of those leaves to which the latest pass of `other`
 * leads, and that of `process` does not, sorted. The caller frees the array, not its texts. It
 * returns their number. It is 0 if the passes have another number, or lead to no leaf of the same
 * name. */
uint32_t td_pass_leaves_missing(const td_pass_leaves *self, uint32_t process, uint32_t other,
                                const char ***labels);
