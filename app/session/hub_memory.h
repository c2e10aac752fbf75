/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a hub remembers of a target for those who come late: the latest line of each kind that still
 * holds, with the target's process. Main thread. */
#pragma once

#include "engine/control/line.h"

#include <glib.h>

typedef struct td_hub_memory {
  GHashTable *lines; /* (owned) key to line */
} td_hub_memory;

void td_hub_memory_init(td_hub_memory *self);
void td_hub_memory_fini(td_hub_memory *self);

/* td_hub_memory_keep takes note of what a target said: its tape, its gate, its stopped threads.
 * `text` is the line. td_hub_memory_forget forgets all: the target is over. */
void td_hub_memory_keep(td_hub_memory *self, const td_line *line, const char *text);
void td_hub_memory_forget(td_hub_memory *self);

/* td_hub_memory_is_deaf tells whether nobody will ever read what is sent to the target: its tape
 * has begun, and it has no gate. */
bool td_hub_memory_is_deaf(const td_hub_memory *self);

/* td_hub_memory_add_facts adds path, live and stopped to a `target` line. */
void td_hub_memory_add_facts(const td_hub_memory *self, td_line_text *target);

/* td_hub_memory_tell calls `tell` with each line. The tape comes before the threads that stopped on
 * it. */
void td_hub_memory_tell(const td_hub_memory *self, void (*tell)(const char *line, void *data),
                        void *data);
