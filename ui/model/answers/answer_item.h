/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An answer to what people ask first of a tape (engine/profile/answers/answers.h), for a list. A
 * worker makes them, on a reading of the tape of its own. Main thread only. */
#pragma once

#include "engine/profile/answers/answers.h"
#include "ui/model/document/document.h"

#define TD_TYPE_ANSWER_ITEM (td_answer_item_get_type())
G_DECLARE_FINAL_TYPE(TdAnswerItem, td_answer_item, TD, ANSWER_ITEM, GObject)

/* All borrowed. The title is that of the topic, in the reader's language. The figure is "1.2 s", or
 * "" if there is none. The place has the line, the step and the event, as far as they are known.
 * The share is negative if there is none. */
td_answer_topic td_answer_item_get_topic(TdAnswerItem *self);
const char *td_answer_item_get_title(TdAnswerItem *self);
const char *td_answer_item_get_text(TdAnswerItem *self);
const char *td_answer_item_get_detail(TdAnswerItem *self);
const char *td_answer_item_get_figure(TdAnswerItem *self);
const char *td_answer_item_get_place(TdAnswerItem *self);
double td_answer_item_get_share(TdAnswerItem *self);

/* td_answer_item_get_seq returns the event to look at, or UINT64_MAX; td_answer_item_get_node the
 * node that the answer is about, or TD_NONE. */
uint64_t td_answer_item_get_seq(TdAnswerItem *self);
uint32_t td_answer_item_get_node(TdAnswerItem *self);

/* td_answer_items_async makes the answers. finish returns a list of TdAnswerItem by topic, which
 * the caller unrefs, or NULL with an error of TD_ERROR or G_IO_ERROR_CANCELLED. */
void td_answer_items_async(TdDocument *document, GCancellable *cancellable,
                           GAsyncReadyCallback done, gpointer data);
GListModel *td_answer_items_finish(GAsyncResult *result, GError **error);
