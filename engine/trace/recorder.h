/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The recorder: turns emission on, empties all threads' rings from a thread of its own, and writes
 * the tape. One per process at a time. */
#pragma once

#include "engine/base/status.h"
#include "engine/events/emit.h"

typedef struct td_recorder td_recorder;

typedef struct td_recorder_options {
  const char *engine, *version, *source; /* for session_begin: "tapedeck", "0.3.0", "mlp.py" */
  td_ring_policy policy;                 /* block or drop */
  size_t ring_bytes;                     /* per thread, a power of two; 0: 8 MiB */
  const char *keep; /* what a keeper will leave on the tape, as the user says it; NULL: all */
  bool raw;         /* Note [Raw tapes] in engine/trace/derive/derive.h */
} td_recorder_options;

/* td_recorder_start creates the file (see td_writer_open for `overwrite`) and begins. TD_IO with
 * the reason. */
td_status td_recorder_start(const char *path, bool overwrite, const td_recorder_options *options,
                            td_recorder **recorder, td_error *error);

/* td_recorder_stop turns emission off, writes what is left and the index, and frees the recorder.
 * TD_IO if anything could not be written at any time: the tape then holds what came before.
 * `status` is the program's exit status, for session_end. */
td_status td_recorder_stop(td_recorder *recorder, int status, td_error *error);

/* td_recorder_keep is the option `keep` in the middle of a recording: it leaves room for a keeper,
 * unless there is some. When it returns, a keeper can follow the tape. TD_UNSUPPORTED: files of
 * that file system cannot give back room, and nothing has changed. Otherwise as td_recorder_flush.
 */
td_status td_recorder_keep(td_recorder *recorder, const char *keep, td_error *error);

/* td_recorder_flush returns when every event that was emitted before the call is in the file. Any
 * thread, while the recorder runs: nobody may be inside when it is stopped. */
void td_recorder_flush(td_recorder *recorder);

/* td_recorder_abandon is for the child of a fork. It leaves the file alone, and frees nothing: the
 * parent's recorder thread may have been changing it. */
void td_recorder_abandon(td_recorder *recorder);

/* td_recorder_finish_dying is for the handler of a signal that ends the process: the recorder's
 * thread ends the tape, with what was emitted before. Returns when that is done, or after
 * patience_ms: the signal may have come while a lock was held that the recorder wants. The recorder
 * must not be used any more. Async-signal-safe. */
void td_recorder_finish_dying(td_recorder *recorder, int status, unsigned patience_ms);
