/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The time of threads in backward passes as stacks, for flame graphs: the modules around a
 * function, the outermost first, and the function. Time that its thread spent for it beside the
 * function has one frame more, such as "[hooks]". The sums are those of report.h. Read-only once
 * they are made; any number of threads may read them. */
#pragma once

#include "engine/base/text_table.h"
#include "engine/trace/tape.h"

#define TD_STACK_SEPARATOR '\n'

typedef struct td_stack_sample {
  uint32_t thread, stack; /* number of a text: frames with TD_STACK_SEPARATOR between them */
  uint64_t begin_ns;      /* of its node's function */
  uint64_t ns;            /* more than 0 */
} td_stack_sample;

typedef struct td_stacks {
  td_stack_sample *samples; /* (owned) by thread, then in time */
  size_t n, capacity;
  td_text_table texts;   /* (owned) of stacks */
  td_text_table threads; /* (owned) names: number 1 is that of thread 0 */
  bool has_modules;      /* else all functions lie at the bottom */
} td_stacks;

/* td_stacks_make reads the tape once: of a pass with all that ran inside it, or with TD_NONE all of
 * it. TD_OUT_OF_RANGE if there is no such outermost pass; else as td_catalog_visit. The caller
 * calls td_stacks_fini in all cases. */
td_status td_stacks_make(td_tape *tape, uint32_t graph_task, td_stacks *stacks, td_error *error);
void td_stacks_fini(td_stacks *stacks);
