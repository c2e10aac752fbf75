/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Events as a GListModel: all of a document's segment of the tape, or those that a filter chose. An
 * item is made when a row asks for it, so a list of ten million events costs what is on the screen.
 * Main thread only. */
#pragma once

#include "ui/model/document/document.h"

/* One event of a document. */
#define TD_TYPE_EVENT_ITEM (td_event_item_get_type())
G_DECLARE_FINAL_TYPE(TdEventItem, td_event_item, TD, EVENT_ITEM, GObject)

uint64_t td_event_item_get_seq(TdEventItem *self);

/* td_event_item_dup_text says what the event tells. td_event_item_dup_brief leaves the modules
 * away; td_event_item_dup_module names that of the event's node, or returns NULL. */
char *td_event_item_dup_text(TdEventItem *self);
char *td_event_item_dup_brief(TdEventItem *self);
char *td_event_item_dup_module(TdEventItem *self);

/* td_event_item_dup_problem_place is td_document_dup_problem_place. */
char *td_event_item_dup_problem_place(TdEventItem *self);

/* td_event_item_is_reconstructed tells whether the event was not seen but follows from others. */
gboolean td_event_item_is_reconstructed(TdEventItem *self);

#define TD_TYPE_EVENT_LIST (td_event_list_get_type())
G_DECLARE_FINAL_TYPE(TdEventList, td_event_list, TD, EVENT_LIST, GObject)

/* td_event_list_new lists all events; td_event_list_new_chosen those whose numbers (uint64_t,
 * ascending) it takes. */
TdEventList *td_event_list_new(TdDocument *document);
TdEventList *td_event_list_new_chosen(TdDocument *document, GArray *seqs);

/* td_event_list_find returns the row of the last listed event with a number <= seq, or G_MAXUINT.
 */
guint td_event_list_find(TdEventList *self, uint64_t seq);

/* Which events to list: those that a filter lets through and that name a node (TD_NONE: any). Their
 * sentence has all words, small letters or capitals alike. */
typedef struct TdEventRule {
  guint filter; /* 0 for all events, or 1 + td_event_family */
  uint32_t node;
  const char *words;       /* separated by spaces, copied; NULL: any sentence */
  uint64_t from_ns, to_ns; /* their time; 0 to 0: any */
} TdEventRule;

/* td_event_rule_lists_all tells whether a rule lets every event through. */
gboolean td_event_rule_lists_all(const TdEventRule *rule);

/* td_event_filter_name returns the (translated) name of a filter, or NULL beyond the last. */
const char *td_event_filter_name(guint filter);

/* td_event_filter_async chooses events in slices of a few milliseconds between frames; a cancelled
 * filter ends with G_IO_ERROR_CANCELLED. */
void td_event_filter_async(TdDocument *document, TdEventRule rule, GCancellable *cancellable,
                           GAsyncReadyCallback done, gpointer data);
TdEventList *td_event_filter_finish(TdDocument *document, GAsyncResult *result, GError **error);
