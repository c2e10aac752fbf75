/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The part of a graph task that outlives its pass. Ready queues hold tasks of passes that may be
 * over, so a task holds this handle: a weak reference. The handle tells whether the pass still
 * lives, and how deep it is nested. Any thread. */
#pragma once

#include "engine/base/refcount.h"

#include <stdbool.h>
#include <stdint.h>

/* Embedded in td_graph_task as its first member: the memory is freed by this address. */
typedef struct td_graph_task_handle {
  td_refcount refs;             /* of the pass */
  td_refcount weak_refs;        /* of the memory; all strong references together hold one */
  uint32_t id;                  /* in events; unique in the process */
  uint32_t reentrant_depth;     /* 0 for an outermost pass */
  _Atomic uint64_t outstanding; /* tasks pushed and not finished */
} td_graph_task_handle;

void td_graph_task_handle_init(td_graph_task_handle *handle, uint32_t reentrant_depth);

/* td_graph_task_handle_any_made returns true once a pass has begun in this process. */
bool td_graph_task_handle_any_made(void);

/* A weak reference holds the memory; td_graph_task_handle_try_ref turns it into a strong one while
 * the pass lives, else returns false. */
td_graph_task_handle *td_graph_task_handle_ref(td_graph_task_handle *handle);
void td_graph_task_handle_unref(td_graph_task_handle *handle); /* NULL is fine */
bool td_graph_task_handle_try_ref(td_graph_task_handle *handle);
bool td_graph_task_handle_is_alive(const td_graph_task_handle *handle); /* NULL: false */

/* td_graph_task_handle_count_push counts a task as outstanding. A queue calls it under its lock. */
void td_graph_task_handle_count_push(td_graph_task_handle *handle);
