/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One backward pass as a page of HTML that needs nothing else: no network, no other file. It has
 * the graph, which plays, the queues, threads, timeline, times and findings. The page computes no
 * states. It has what each event changed, from the replay. Main thread: letters are measured with
 * pango. */
#pragma once

#include "ui/page/lesson.h"

#include <stdio.h>

/* A page has room for so much; it says what it leaves out. */
#define TD_PAGE_EVENTS 100000
#define TD_PAGE_NODES 6000
#define TD_PAGE_TEXT_BYTES                                                                         \
  ((size_t)3 << 20) /* of sentences, and as much of reasons and of stacks */

/* td_page_pass returns the outermost pass around a graph task of the catalog. */
uint32_t td_page_pass(const td_catalog *catalog, uint32_t graph_task);

/* td_page_write writes the page of a graph task and of the passes around, in and beside it. The
 * replay's catalog has that pass whole. Moves the replay. `version` is the program's. As
 * td_replay_forward; the caller checks `out`.
 * If `lesson` is not NULL, the page has the lesson too. It has all events from the first step
 * or pass to the end of the tape, and all passes. */
td_status td_page_write(td_replay *replay, uint32_t graph_task, const td_page_lesson *lesson,
                        const char *version, FILE *out, td_error *error);
