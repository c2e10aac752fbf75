/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Graphs that nobody frees. A period ends with an outermost pass; its nodes are those made in it.
 * Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/findings/finding.h"

typedef struct td_period {
  uint32_t first_node; /* its ids are from this one on */
  uint32_t n_alive, n_made;
  bool creates_graph; /* the pass was backward(create_graph=True) */
  uint32_t root;      /* of the pass that ended it, or TD_NONE */
  uint32_t n_kept;    /* at the end of that pass: as in td_find_kept */
} td_period;

typedef struct td_find_kept {
  td_period *periods; /* (owned) the last one is under way */
  uint32_t n, capacity;
  uint32_t next_node; /* after the greatest id so far */
  bool is_confused;   /* ids do not rise from period to period: the tape was joined */
  uint32_t lowest;    /* of the periods after the first one, up to which none has nodes left */
  uint32_t n_alive;   /* of them, that have nodes left */
  uint32_t n_alive_creating; /* of these, whose passes made a graph */
  uint64_t n_nodes;          /* of these */
  /* at the end of the last pass: */
  uint32_t n_kept;       /* periods that ended two passes before, or earlier, and have nodes left */
  uint64_t n_kept_nodes; /* of these */
  uint32_t example;      /* the root of the first of them */
  uint64_t seq;
  uint32_t n_creating; /* of these periods */
  uint64_t n_again;    /* nodes of such periods, but for leaves, that the last pass ran */
  uint64_t n_again_now;
  td_number_map leaves; /* nodes that run whenever their leaf is used; after their end 0 */
  char *name, *line;    /* (owned) of the example, or NULL */
  uint32_t n_cycles;    /* contexts of the custom Function that had most */
  char *function, *function_line; /* (owned) of it, or NULL */
} td_find_kept;

void td_find_kept_make(td_find_kept *self, const td_event_node_new *event);
void td_find_kept_free(td_find_kept *self, uint32_t node);
void td_find_kept_begin_pass(td_find_kept *self, const td_event_graph_task_begin *event);
void td_find_kept_run(td_find_kept *self, uint32_t node);
void td_find_kept_cycle(td_find_kept *self, td_tape *tape, const td_event_function_cycle *event);
void td_find_kept_end_pass(td_find_kept *self, uint32_t root, uint64_t seq);

/* td_find_kept_learn takes names of a segment's nodes. td_find_kept_tell adds what was found on the
 * whole tape. */
void td_find_kept_learn(td_find_kept *self, const td_catalog *catalog);
void td_find_kept_tell(const td_find_kept *self, td_findings *findings);
void td_find_kept_fini(td_find_kept *self);
