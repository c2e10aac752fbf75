/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the time of a page's outermost pass went: the lives of its nodes, and calls of hooks and
 * waits for locks. The page adds them up as `report` does. Private to ui/page. One thread. */
#pragma once

#include "engine/base/json.h"
#include "engine/profile/report/lives.h"
#include "ui/page/nodes.h"

typedef struct td_page_span {
  bool is_hook; /* else a wait for a lock */
  char *key;    /* (owned) */
  uint64_t ns;
} td_page_span;

typedef struct td_page_times {
  const td_catalog *catalog;  /* (borrowed) */
  td_tape *tape;              /* (borrowed) */
  const td_page_nodes *nodes; /* (borrowed) */
  td_lives *lives;            /* (owned) */
  uint32_t graph_task, pass;  /* the outermost pass, and its number in lives */
  td_life *rows;              /* (owned) */
  uint32_t n_rows, row_capacity;
  td_page_span *spans; /* (owned) */
  uint32_t n_spans, span_capacity;
} td_page_times;

/* td_page_times_make reads events first .. end - 1. As td_tape_check_readable. */
td_status td_page_times_make(td_page_times *times, td_tape *tape, const td_page_nodes *nodes,
                             uint32_t graph_task, uint64_t first, uint64_t end, td_error *error);
void td_page_times_fini(td_page_times *times);

/* td_page_times_write writes an object. The key of a node's row by op, module and line is the
 * node's (nodes_json.h). */
void td_page_times_write(const td_page_times *times, td_json *json);
