/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A recording onto a temporary tape, for measuring. Zero-initialise. Main thread. */
#pragma once

#include "engine/replay/replay.h"
#include "engine/trace/recorder.h"

typedef struct td_bench_recording {
  char *path;       /* (owned) */
  const char *keep; /* for a flight recorder, as td_recorder_options has it; or NULL */
  td_recorder *recorder;
} td_bench_recording;

/* td_bench_record_begin starts recording to a new temporary file. Returns NULL, or the reason
 * why it cannot. */
char *td_bench_record_begin(td_bench_recording *recording);

/* td_bench_record_end stops recording. Returns NULL or what went wrong. The file stays until
 * td_bench_record_remove. */
char *td_bench_record_end(td_bench_recording *recording);
void td_bench_record_remove(td_bench_recording *recording);

/* A tape of passes through one graph, or as in training through a new graph in each pass. It has
 * about 14 events per node and pass. */
typedef struct td_bench_tape {
  uint32_t n_nodes, n_passes;   /* about so many nodes: see td_bench_net */
  bool trains, is_cut;          /* is_cut: into segments, in the recording's process */
  td_bench_recording recording; /* its path is NULL if there is no file */
  td_replay *replay;            /* (owned) or NULL */
  double contents_ms;           /* the time that td_contents_add took, or td_segments_add */
  double open_ms;               /* the time that td_replay_open took */
} td_bench_tape;

/* td_bench_tape_make records what the first three fields say, and opens the tape. Returns NULL or
 * what went wrong (owned). The caller calls td_bench_tape_remove in both cases.
 * td_bench_tape_make_apart records in a process of its own, so that this one has the memory of the
 * reader alone. td_bench_tape_record_apart does the same, and leaves the tape closed. Both want a
 * process of one thread. */
char *td_bench_tape_make(td_bench_tape *tape);
char *td_bench_tape_record_apart(td_bench_tape *tape);
char *td_bench_tape_make_apart(td_bench_tape *tape);
void td_bench_tape_remove(td_bench_tape *tape);
