/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hub: the session's meeting place, in the process of `tapedeck run` or `tapedeck record`. Programs
 * that are recorded (targets) connect to its socket, say hello and are answered by the owner;
 * windows (viewers) connect to it too, hear what the targets say, and send them commands. The
 * socket lies in a folder that only this user may enter, and the peer's user is checked all the
 * same. Sources of the default main context; main thread. */
#pragma once

#include "engine/control/line.h"

#include <glib.h>
#include <sys/types.h>

typedef struct td_hub td_hub;
typedef struct td_hub_target td_hub_target;

/* What the owner is told. `hello`: a target asks how it is to be recorded, to be answered now or
 * later with td_hub_target_answer. `said`: anything else it says (tape, stopped, running, gate).
 * `over`: the last call for this target, with its `over` line, or NULL where it hung up without;
 * it is freed then. Each may be NULL. */
typedef struct td_hub_owner {
  void (*hello)(td_hub_target *target, const td_line *hello, void *data);
  void (*said)(td_hub_target *target, const td_line *line, void *data);
  void (*over)(td_hub_target *target, const td_line *over, void *data);
  void *data;
} td_hub_owner;

/* td_hub_new makes the socket. NULL: *problem says why (free it). */
td_hub *td_hub_new(const td_hub_owner *owner, char **problem);
void td_hub_free(td_hub *hub);

/* td_hub_get_path returns the path for TAPEDECK_SESSION. Borrowed. */
const char *td_hub_get_path(const td_hub *hub);

/* td_hub_detach releases a process from its gate, or all for 0: it runs on, and is recorded. Done
 * by itself when the last viewer of a process goes away. */
void td_hub_detach(td_hub *hub, pid_t pid);

guint td_hub_get_n_targets(const td_hub *hub);

td_hub *td_hub_target_get_hub(const td_hub_target *target);
pid_t td_hub_target_get_pid(const td_hub_target *target);

/* td_hub_target_answer sends a line to a target. */
void td_hub_target_answer(td_hub_target *target, const td_line_text *line);

/* Something of the owner's that goes with a target; freed with it. */
void td_hub_target_set_data(td_hub_target *target, gpointer data, GDestroyNotify free_data);
gpointer td_hub_target_get_data(const td_hub_target *target);
