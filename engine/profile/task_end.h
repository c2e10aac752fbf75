/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When a task is over. Private to engine/profile. */
#pragma once

#include "engine/events/event.h"

/* td_task_goes_on tells whether a thread may still be busy with a task that it has counted as
 * finished: it frees nodes and memory, the recorder is at work, or
 * the thread had no core. Any other event says that it
 * does something else. */
static inline bool
td_task_goes_on(td_event_kind kind) {
  return kind == TD_EVENT_node_free || kind == TD_EVENT_free || kind == TD_EVENT_string ||
         kind == TD_EVENT_recorder_took || kind == TD_EVENT_core_wait;
}
