/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Writes segments into a tape that is over: their keyframes, and where they begin. One thread. */
#pragma once

#include "engine/base/status.h"
#include "engine/trace/segment.h"

typedef struct td_segment_writer td_segment_writer;

/* td_segment_writer_open looks at a tape. *writer is NULL if the tape cannot have segments. Then it
 * lacks a table of contents or its end, or is cut already, or is damaged, or has another schema.
 * TD_IO and the other errors of td_tape_open. */
td_status td_segment_writer_open(const char *path, td_segment_writer **writer, td_error *error);

/* td_segment_writer_add adds the segment that begins at event `first`, after the one added before.
 * The first segment begins at event 0. td_segment_writer_outline sets the
 * outline. */
void td_segment_writer_add(td_segment_writer *writer, uint64_t first, const td_keyframe *keyframe);
void td_segment_writer_outline(td_segment_writer *writer, const td_keyframe *outline);

/* td_segment_writer_close changes the file, and frees the writer. TD_OUT_OF_MEMORY, or TD_IO as
 * td_contents_add. td_segment_writer_abandon leaves the file alone. */
td_status td_segment_writer_close(td_segment_writer *writer, const char *path, td_error *error);
void td_segment_writer_abandon(td_segment_writer *writer);
