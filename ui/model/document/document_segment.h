/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A document's segment of its tape, and the tape as a whole: Note [The shown segment] in
 * ui/model/document/document.h. A tape that is not cut is one segment. Main thread. */
#pragma once

#include "ui/model/document/document.h"

typedef struct TdSegment {
  uint32_t number, n;  /* from 1 */
  uint64_t first, end; /* its events */
} TdSegment;

/* td_document_is_cut tells whether the tape has more than one segment. td_document_get_segment
 * returns the segment shown, td_document_segment_at the one that covers a position. */
gboolean td_document_is_cut(TdDocument *self);
TdSegment td_document_get_segment(TdDocument *self);
TdSegment td_document_segment_at(TdDocument *self, uint64_t position);
gboolean td_document_covers(TdDocument *self, uint64_t position);

/* td_document_get_whole returns the catalog of the whole tape. If that is cut, few of its nodes are
 * in it. td_document_get_length returns how many events the whole tape has. */
const td_catalog *td_document_get_whole(TdDocument *self);
uint64_t td_document_get_length(TdDocument *self);

/* td_document_get_extent writes the time from the first event of the segment to its last one. If
 * the tape is not cut, it writes the time from 0 to the end of the tape. */
void td_document_get_extent(TdDocument *self, double *from_ns, double *to_ns);

/* td_document_read_event copies an event of any segment, if it names nothing but what the catalog
 * that is returned has. Otherwise it returns NULL. *tape is where strings of that catalog are. */
const td_catalog *td_document_read_event(TdDocument *self, uint64_t seq, td_any_event *event,
                                         td_tape **tape, td_error *error);

/* td_document_dup_place_text says what is at a position of any segment. An example: "event 12 of 90
 * · about 1.2 s · step 3 · pass 4 of 9 · segment 1 of 2". It leaves away what nobody knows. The
 * caller frees. */
char *td_document_dup_place_text(TdDocument *self, uint64_t position);

/* td_document_dup_step_text returns "step 3" of a graph task, "after step 3" if the program
 * counted no step after it, or "". The caller frees. */
char *td_document_dup_step_text(TdDocument *self, uint32_t graph_task);

/* td_document_dup_segment_text returns "Segment 3 of 17", td_document_dup_segment_events "events 2
 * 097 152 to 3 145 727 of 17 825 792". The caller frees. */
char *td_document_dup_segment_text(TdDocument *self);
char *td_document_dup_segment_events(TdDocument *self);
