/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Finding nodes in the other segments of a long tape: Note [The shown segment] in
 * ui/model/document/document.h. A worker looks through one segment at a time, from the segment
 * shown outwards. It has a reading of the tape of its own. Main thread only. */
#pragma once

#include "ui/model/document/document.h"

typedef struct TdTapeSearch TdTapeSearch;

/* A node of another segment. */
typedef struct TdFoundNode {
  uint32_t node;
  uint32_t segment;  /* from 1 */
  uint64_t position; /* where it is to be seen: its first pass in that segment, or its creation */
  char *text;        /* (owned) its name, label, module and line */
} TdFoundNode;

/* td_tape_search_new begins a search for what was typed, of which a worker returns up to `room`
 * nodes for each segment. The words that name a state find nothing in other segments. */
TdTapeSearch *td_tape_search_new(TdDocument *document, const char *typed, guint room);
TdTapeSearch *td_tape_search_ref(TdTapeSearch *self);
void td_tape_search_unref(TdTapeSearch *self);

/* td_tape_search_is_over tells whether no segment is left. td_tape_search_n_seen returns how many
 * segments have been looked through, also the segment shown. */
gboolean td_tape_search_is_over(TdTapeSearch *self);
guint td_tape_search_n_seen(TdTapeSearch *self);

/* td_tape_search_next_async looks through the next segment; one at a time. finish returns
 * TdFoundNode * in the order of the tape, and adds to *n how many there are, or returns NULL with
 * an error. A segment whose keyframe is damaged has none. The caller unrefs the array. */
void td_tape_search_next_async(TdTapeSearch *self, GCancellable *cancellable,
                               GAsyncReadyCallback done, gpointer data);
GPtrArray *td_tape_search_next_finish(GAsyncResult *result, uint64_t *n, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TdTapeSearch, td_tape_search_unref)
