/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lives of the nodes in the pass that a document shows. Main thread. */
#pragma once

#include "engine/profile/report/pass_lives.h"
#include "ui/model/document/document.h"

/* td_document_want_lives returns the lives of the pass shown, borrowed until the document shows
 * another one. While a worker still collects them it returns NULL; then the document notifies
 * "lives". */
const td_pass_lives *td_document_want_lives(TdDocument *self);

/* td_document_makes_lives tells whether a worker still collects them. */
gboolean td_document_makes_lives(TdDocument *self);
