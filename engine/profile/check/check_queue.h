/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A ready queue as a check follows it, by engine/rules. The engine does not use that code, so a bug
 * in its queue does not hide here. Private to engine/profile. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/replay/catalog.h"
#include "engine/rules/ready_tasks.h"

/* A task in the queue. */
typedef struct td_check_entry {
  uint64_t seq;  /* of its push */
  uint32_t node; /* TD_NONE: a dummy or a shutdown task */
  uint32_t graph_task;
} td_check_entry;

/* An entry that leaves out of turn stays in the heap until it comes to the top. `seqs` knows
 * which entries still count, so that each push and pop takes logarithmic time. */
typedef struct td_check_queue {
  td_ready_tasks tasks; /* (owned) ids are node and graph task */
  size_t n;             /* tasks in the queue */
  td_number_map seqs;   /* by node and graph task: 1 + seq of its push; 0: it is not in the queue */
  td_number_map counts; /* by graph task: its tasks in the queue */
  size_t n_searched;    /* entries looked at for tasks of unknown graph tasks */
  uint64_t n_pushed;
  bool unsure;      /* Until the queue is empty, a task may be in another place than its numbers
                       say. Its graph task has ended: once that is freed, which is not on the tape,
                       its depth counts no more. Or the program changed the node's sequence_nr. */
  bool has_unknown; /* tasks may be in here that came before the tape */
} td_check_queue;

/* td_check_queue_push takes a task of a graph task; node: TD_NONE for a kind without one. */
void td_check_queue_push(td_check_queue *queue, const td_catalog *catalog, uint64_t seq,
                         td_task_kind kind, uint32_t node, uint32_t graph_task);

/* td_check_queue_pop takes out (node, graph_task), or a dummy or shutdown task for TD_NONE. False
 * if there is none. *ahead is the entry that the order puts first. */
bool td_check_queue_pop(td_check_queue *queue, const td_catalog *catalog,
                        const td_event_queue_pop *pop, td_check_entry *popped,
                        td_check_entry *ahead);

/* td_check_queue_at returns an entry of the heap, and whether its task is in the queue yet. */
bool td_check_queue_at(const td_check_queue *queue, size_t at, td_check_entry *entry);

/* td_check_queue_knows returns true if a task of this graph task came into the queue before. A long
 * queue that becomes empty forgets that. */
bool td_check_queue_knows(const td_check_queue *queue, uint32_t graph_task);

/* td_check_queue_end marks the queue as unsure if it holds tasks of this graph task, which has
 * ended. */
void td_check_queue_end(td_check_queue *queue, uint32_t graph_task);
void td_check_queue_fini(td_check_queue *queue);
