/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A worker compares two tapes, or two passes, as `tapedeck diff` does. Main thread. */
#pragma once

#include "ui/model/compare/alignment.h"

#include <gio/gio.h>

/* What is compared: a tape, or one pass of it. */
typedef struct TdAlignmentWish {
  const char *path[2];
  gboolean passes; /* else all of the tapes */
  uint32_t graph_task[2];
} TdAlignmentWish;

/* What was found. */
typedef struct TdAligned {
  td_alignment *alignment; /* (owned) */
  gboolean has_difference;
  uint64_t position[2]; /* where the order parts */
  uint32_t node[2];     /* that ran there, or TD_NONE if that side had no more */
  char *text;           /* (owned) all of that in a sentence, in the reader's language */
  char *why[2];         /* (owned) why each side popped its node, or NULL */
} TdAligned;
void td_aligned_free(TdAligned *self);

/* td_alignment_work_async reads both tapes, in a worker. td_alignment_work_finish returns what was
 * found, or NULL with an error of TD_ERROR or G_IO_ERROR_CANCELLED. The caller frees it. */
void td_alignment_work_async(const TdAlignmentWish *wish, GCancellable *cancellable,
                             GAsyncReadyCallback done, gpointer data);
TdAligned *td_alignment_work_finish(GAsyncResult *result, GError **error);
