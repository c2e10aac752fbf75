/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `order` keeps of the passes that are under way: their graphs, and the steps since the first
 * of them began. Private to engine/profile. One thread. */
#pragma once

#include "engine/profile/order/order_scene.h"

/* An outermost pass. Places of steps count from the begin of the log, dropped ones included. */
typedef struct td_logged_pass {
  struct td_logged_pass *before, *after; /* (borrowed) of those under way, in the order of begins */
  uint32_t graph_task;
  bool has_failed;
  size_t since; /* the begin of the first pass that was under way when it began */
  size_t begin; /* its first step */
  size_t *pops; /* (owned) steps that pop a node of it, before it failed */
  uint32_t n_pops, capacity;
  td_pass_graph graph; /* (owned) */
} td_logged_pass;

/* Called with a pass that is over, and valid for the call. Status: a task_status; running if the
 * tape has no end of it. */
typedef void (*td_order_log_listener)(const td_logged_pass *pass, uint32_t status, void *data);

typedef struct td_order_log {
  td_order_log_listener listen;
  void *data;
  uint32_t graph_task;  /* of the only pass to log, or TD_NONE */
  uint64_t edges_left;  /* that graphs may have yet */
  bool changes_numbers; /* programs changed sequence numbers on this tape */
  td_order_step *steps; /* (owned) */
  size_t n_dropped, n_steps, capacity, trim_at;
  td_event_task_chosen chosen;  /* the event just before, if it is one; else of kind 0 */
  td_logged_pass **passes;      /* (owned) by slot; NULL: free */
  td_logged_pass *first, *last; /* (borrowed) under way */
  uint32_t *free_slots;         /* (owned) */
  uint32_t n_slots, slot_capacity, n_free, free_capacity;
  td_number_map slots;   /* by graph task, inner ones too: 1 + the slot; 0: over */
  td_number_map numbers; /* with changes_numbers, by node: 1 + its sequence_nr */
} td_order_log;

void td_order_log_init(td_order_log *log, const td_tape_info *info, uint32_t graph_task,
                       td_order_log_listener listen, void *data);

/* td_order_log_take takes the next event of the tape. The catalog knows what the event names.
 * td_order_log_end says that the tape is over, and tells of the passes under way. */
void td_order_log_take(td_order_log *log, const td_catalog *catalog, const td_any_event *event,
                       uint64_t seq);
void td_order_log_end(td_order_log *log);

/* td_order_log_step returns a step that was not dropped; borrowed. */
const td_order_step *td_order_log_step(const td_order_log *log, size_t place);
void td_order_log_fini(td_order_log *log);
