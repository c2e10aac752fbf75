/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lives of the nodes in the pass that a document shows. Main thread. */
#pragma once

#include "engine/profile/report/pass_lives.h"
#include "ui/model/document/document.h"

/* The last life of a node in the pass shown. */
typedef struct TdNodeLife {
  uint64_t parts[TD_N_LIFE_PARTS]; /* in ns; 0 for what is not known */
  bool is_known[TD_N_LIFE_PARTS];
  uint64_t sum;           /* of the parts */
  gboolean were_observed; /* else they follow from other events */
} TdNodeLife;

/* td_document_want_life writes a node's life. While a worker still collects lives it returns FALSE;
 * then the document notifies "lives". It returns FALSE too for a node without one. */
gboolean td_document_want_life(TdDocument *self, uint32_t node, TdNodeLife *life);

/* td_document_makes_lives tells whether a worker still collects them. */
gboolean td_document_makes_lives(TdDocument *self);
