/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What sentences call nodes, queues, threads, graph tasks and processes. Private to engine/profile.
 * Any thread. */
#pragma once

#include "engine/replay/catalog.h"

#include <stdio.h>

/* td_words_node writes "AccumulateGrad(w)", or "MulBackward0 #3 (Block · encoder.0)" with the
 * module. td_words_node_of writes that from the node's facts. td_words_node_whole writes the line
 * too: "(Block · encoder.0, net.py:9)". td_words_node_again writes the name alone. td_words_queue
 * writes "queue 0 (cpu, thread main)"; td_words_thread "thread main". An id that is not in the
 * catalog is written as a number, and TD_NONE as "no node" and so on. */
void td_words_node(FILE *out, const td_catalog *catalog, uint32_t node);
void td_words_node_of(FILE *out, const td_catalog_node *facts);
void td_words_node_whole(FILE *out, const td_catalog *catalog, uint32_t node);
void td_words_node_again(FILE *out, const td_catalog *catalog, uint32_t node);
void td_words_queue(FILE *out, const td_catalog *catalog, uint32_t queue);
void td_words_thread(FILE *out, const td_catalog *catalog, uint32_t thread);

/* td_words_graph_task writes "graph task 3" or "no graph task"; td_words_process "process 0", "rank
 * 1" or "train.py (1234)". */
void td_words_graph_task(FILE *out, const td_catalog *catalog, uint32_t graph_task);
void td_words_process(FILE *out, const td_catalog *catalog, uint32_t process);

/* td_words_name writes a name of the tape, td_words_text any text: as one line, and no more of it
 * than people get to see (engine/base/line.h). */
void td_words_name(FILE *out, const char *name);
void td_words_text(FILE *out, const char *text);

/* td_words_number writes a number; the greatest of 64 bits, which is a leaf's sequence_nr, as
 * "max". */
void td_words_number(FILE *out, uint64_t number);
