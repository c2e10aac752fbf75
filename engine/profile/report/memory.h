/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What nodes hold in memory over time: Note [Who holds memory] in held_by.h. Read-only once it is
 * made; any number of threads may read it. */
#pragma once

#include "engine/profile/range.h"
#include "engine/profile/report/memory_level.h"
#include "engine/trace/tape.h"

#define TD_MEMORY_HOLDERS 10

typedef struct td_memory_holder {
  td_holding_group group;
  uint64_t bytes;
  uint64_t since_seq; /* event */
  uint32_t node, number;
  bool is_leaf;              /* whose gradient it is */
  uint32_t n_sharing;        /* other saved tensors of the same storage */
  char *name;                /* (owned) of the node, or of the leaf whose gradient it is */
  char *module;              /* (owned) NULL if unknown */
  char *line;                /* (owned) the program's, NULL if unknown */
  const char *shape, *dtype; /* (borrowed) from the tape; "" if unknown */
} td_memory_holder;

/* With its largest holders, the largest first. */
typedef struct td_memory_moment {
  uint64_t seq, ns;    /* after that event; UINT64_MAX: nothing was ever held */
  uint32_t graph_task; /* the outermost pass that began last, if it is under way; else TD_NONE */
  td_memory_level level;
  td_memory_holder holders[TD_MEMORY_HOLDERS];
  uint32_t n_holders;
} td_memory_moment;

typedef struct td_memory {
  bool is_known[TD_N_HOLDING_GROUPS]; /* the tape tells of that group */
  bool is_inferred;                   /* nodes' ends tell when they let their saved tensors go */
  bool knows_nodes;                   /* the tape tells which nodes are freed */
  bool meets_all;                     /* it has the nodes that no pass has met, too */
  uint32_t n_passes;                  /* outermost ones, that began */
  td_memory_moment peak;
  td_memory_moment retained; /* the end of the pass after which most saved tensors are left;
                                graph_task is that pass. Holders are saved tensors alone. */
  bool has_steps;            /* steps are the program's; else outermost passes */
  td_memory_steps steps;
  td_memory_samples samples;
} td_memory;

/* td_memory_make reads the tape once. With an outermost pass, peak, samples and steps are of the
 * time of that pass alone; TD_NONE is the whole tape. With a range of time (NULL: none) all
 * figures are of that range alone. What was held when it began counts too.
 * TD_OUT_OF_RANGE if there is no such pass; else as td_catalog_visit. The caller calls
 * td_memory_fini in all cases. */
td_status td_memory_make(td_tape *tape, uint32_t graph_task, const td_range *range,
                         td_memory *memory, td_error *error);
void td_memory_fini(td_memory *memory);
