/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Import of what PyTorch's profilers export: Chrome traces of torch.profiler (Kineto) and of the
 * profiler before it. The importer reads the file once, in pieces and in bounded memory. What
 * bears on backward passes goes, sorted by time, through a nameless file beside the tape. The
 * importer reads that file twice: to learn which nodes there are, and to write the tape. What
 * follows from a trace and what does not stands in trace_tape.h. Belongs to one thread at a time.
 */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct td_import td_import;

typedef struct td_import_report {
  uint64_t n_events; /* of the trace */
  uint64_t n_nodes, n_runs, n_graph_tasks, n_steps;
  uint64_t n_bad, first_bad; /* left out for a time or number that is none; where, in bytes */
  uint64_t n_cut;            /* that did not nest, and were cut */
  const char *broken;        /* (borrowed) where and why the trace ends early, or NULL */
} td_import_report;

/* td_import_new makes one that lays its file into `folder`. */
td_import *td_import_new(const char *folder);
void td_import_free(td_import *import);

/* td_import_feed takes the next bytes of the trace, which it may change. False when the trace ends
 * early: td_import_write will tell. */
bool td_import_feed(td_import *import, unsigned char *bytes, size_t n);

/* td_import_break says that no more bytes can be had, and where and why. */
void td_import_break(td_import *import, const char *reason);

/* td_import_write says that the file is over, and writes the tape; `source` is what the trace is
 * called. Of a file that breaks off, what is whole is written if there is an evaluation of a node
 * among it, and report->broken says so. TD_INVALID where there is nothing to write, with where and
 * why; TD_IO. A tape that could not be written whole is left as it is. */
td_status td_import_write(td_import *import, const char *path, bool overwrite, const char *source,
                          td_import_report *report, td_error *error);
