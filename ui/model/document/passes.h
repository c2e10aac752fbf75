/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The backward passes of a tape as a reader meets them: which pass runs at a position, its number,
 * its span of time. A pass is a graph task. A tape of several processes has passes of each; a
 * reader looks at one process. Pure; the thread that owns the replay. */
#pragma once

#include "engine/replay/replay.h"

#include <stdbool.h>

/* td_pass_is_of tells whether a graph task belongs to a process and the tape has its beginning. A
 * damaged tape may have lost it. */
bool td_pass_is_of(const td_catalog *catalog, const td_catalog_graph_task *pass, uint32_t process);

/* td_pass_at returns the graph task of a process to look at after a position. Of the passes that
 * run then, it is the one that began last: an outer pass comes back after its inner pass. Between
 * passes it is the last one, before all of them the first. TD_NONE on a tape without passes. A pass
 * that ends at `length` or beyond never ended. */
uint32_t td_pass_at(const td_catalog *catalog, uint64_t length, uint32_t process,
                    uint64_t position);

/* td_pass_number returns the place of a graph task among the passes of a process, from 1, in the
 * order in which they began. It writes how many they are. */
uint32_t td_pass_number(const td_catalog *catalog, uint32_t process, uint32_t graph_task,
                        uint32_t *n);

/* td_pass_outermost returns the pass in no other one around a graph task, or the graph task itself.
 */
uint32_t td_pass_outermost(const td_catalog *catalog, uint32_t graph_task);

/* td_pass_list returns the graph tasks of a process, in the order of their numbers, and writes how
 * many they are. The caller frees. */
uint32_t *td_pass_list(const td_catalog *catalog, uint32_t process, uint32_t *n);

/* td_pass_find_step writes the training step that a graph task belongs to: td_step_at. */
bool td_pass_find_step(const td_catalog *catalog, uint32_t process, uint32_t graph_task,
                       uint32_t *step);

/* td_pass_first_position returns where a reader of so many events wants to begin: just after the
 * first graph_task_begin of process 0, or 0. */
uint64_t td_pass_first_position(const td_catalog *catalog, uint64_t length);

/* td_pass_span writes the time of one graph task, with a little around it. */
void td_pass_span(td_replay *replay, uint32_t graph_task, double *from_ns, double *to_ns);

/* td_pass_span_of_all writes the time from the first graph_task_begin to the last graph_task_end,
 * with a little around it: what most people come to see. On a tape without passes it writes the
 * whole tape. */
void td_pass_span_of_all(td_replay *replay, double *from_ns, double *to_ns);
