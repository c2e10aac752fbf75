/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A recording onto a temporary tape, for measuring. Main thread. */
#pragma once

#include "engine/trace/recorder.h"

typedef struct td_bench_recording {
  char *path; /* (owned) */
  td_recorder *recorder;
} td_bench_recording;

/* td_bench_record_begin starts recording to a new temporary file. Returns NULL, or the reason
 * why it cannot. */
char *td_bench_record_begin(td_bench_recording *recording);

/* td_bench_record_end stops recording. Returns NULL or what went wrong. The file stays until
 * td_bench_record_remove. */
char *td_bench_record_end(td_bench_recording *recording);
void td_bench_record_remove(td_bench_recording *recording);
