/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Warnings: what is wrong in a backward pass without ending it. They are given on whatever thread
 * a node runs on, and collected by the pass; its caller gives them again when it is over, before
 * the result or the error: a nested pass to the pass around it, the outermost one to the process's
 * handler. */
#pragma once

#include "engine/pass/graph_task.h"

/* td_warn collects a warning about a node (or NULL) for the calling thread's innermost pass;
 * outside a pass the handler gets it at once, and what it says is dropped. Any thread, under any
 * lock of the engine but that of the string table. */
void td_warn(const td_node *node, const char *text);

/* td_warning_set_handler says who gets the warnings of outermost passes; without one they go to
 * stderr. A handler that fails makes the pass fail; where the pass failed already, error is NULL,
 * and the handler is to print what it would say, and to succeed. Set while the program starts. */
typedef td_status (*td_warning_handler)(const char *text, td_error *error);
void td_warning_set_handler(td_warning_handler handler);

/* For the engine alone: td_warnings_replay gives what graph_task collected to the pass around it or
 * to the handler. */
td_status td_warnings_replay(td_graph_task *graph_task, td_error *error);
void td_warnings_free(td_graph_task *graph_task);
