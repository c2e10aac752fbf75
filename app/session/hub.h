/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hub: the meeting place of a session, in the process of `tapedeck run` or `tapedeck record`.
 * Recorded programs (targets) connect to its socket and say hello; the owner answers. Windows
 * (viewers) connect to the same socket. The hub passes on what targets say to viewers, and the
 * viewers' commands to targets. A viewer of a
 * process that has gone hears `over` at once. An asker says one line and gets an answer: `list`
 * gets one line for each target, `where` what a target says of its threads. Only this user may
 * enter the socket's folder. The hub checks the user of each peer, and each target checks the
 * hub's. Sources of the default main context; main thread. */
#pragma once

#include "engine/control/line.h"

#include <glib.h>
#include <sys/types.h>

typedef struct td_hub td_hub;
typedef struct td_hub_target td_hub_target;

/* The owner's functions; each may be NULL.
 *
 * - hello: a target asks how to record. The owner answers now or later with td_hub_target_answer.
 * - said: a target says anything else (tape, stopped, running, gate).
 * - dump: somebody asks for what a flight recorder has kept. The owner answers now or later.
 * - loaded: a process that loaded PyTorch ends, and it never said hello.
 * - over: the last call for a target, with its `over` line. `over` is NULL if the target hung up
 *   without one. The hub frees the target after it. */
typedef struct td_hub_owner {
  void (*hello)(td_hub_target *target, const td_line *hello, void *data);
  void (*said)(td_hub_target *target, const td_line *line, void *data);
  void (*dump)(td_hub_target *asker, void *data);
  void (*loaded)(void *data);
  void (*over)(td_hub_target *target, const td_line *over, void *data);
  void *data;
} td_hub_owner;

/* td_hub_new makes the socket. If it cannot, it returns NULL and sets *problem to the reason
 * (free it). */
td_hub *td_hub_new(const td_hub_owner *owner, char **problem);
void td_hub_free(td_hub *hub);

/* td_hub_get_path returns the path for TAPEDECK_SESSION. Borrowed. */
const char *td_hub_get_path(const td_hub *hub);

/* td_hub_detach releases a process from its gate, or all processes if pid is 0. The process runs
 * on, and its recording goes on. The hub does the same if the last viewer of a process leaves. */
void td_hub_detach(td_hub *hub, pid_t pid);

/* td_hub_is_viewed tells whether some viewer looks at that process. */
bool td_hub_is_viewed(const td_hub *hub, pid_t pid);

guint td_hub_get_n_targets(const td_hub *hub);

td_hub *td_hub_target_get_hub(const td_hub_target *target);
pid_t td_hub_target_get_pid(const td_hub_target *target);

/* td_hub_target_answer sends a line to a target. */
void td_hub_target_answer(td_hub_target *target, const td_line_text *line);

/* Data of the owner for a target; the hub frees it with the target. */
void td_hub_target_set_data(td_hub_target *target, gpointer data, GDestroyNotify free_data);
gpointer td_hub_target_get_data(const td_hub_target *target);
