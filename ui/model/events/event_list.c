/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/events/event_list.h"
#include "engine/base/bisect.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/findings/problems.h"

struct _TdEventItem {
  GObject parent_instance;
  TdDocument *document; /* (owned) */
  uint64_t seq;
};

G_DEFINE_FINAL_TYPE(TdEventItem, td_event_item, G_TYPE_OBJECT)

static void
td_event_item_finalize(GObject *object) {
  g_clear_object(&TD_EVENT_ITEM(object)->document);
  G_OBJECT_CLASS(td_event_item_parent_class)->finalize(object);
}

static void
td_event_item_class_init(TdEventItemClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_event_item_finalize;
}

static void
td_event_item_init(TdEventItem *self) {
}

uint64_t
td_event_item_get_seq(TdEventItem *self) {
  return self->seq;
}

char *
td_event_item_dup_text(TdEventItem *self) {
  return td_document_dup_event_text(self->document, self->seq);
}

char *
td_event_item_dup_brief(TdEventItem *self) {
  return td_document_dup_event_brief(self->document, self->seq);
}

char *
td_event_item_dup_module(TdEventItem *self) {
  return td_document_dup_event_module(self->document, self->seq);
}

char *
td_event_item_dup_problem_place(TdEventItem *self) {
  return td_document_dup_problem_place(self->document, self->seq);
}

gboolean
td_event_item_is_reconstructed(TdEventItem *self) {
  return td_document_is_reconstructed(self->document, self->seq);
}

struct _TdEventList {
  GObject parent_instance;
  TdDocument *document; /* (owned) */
  GArray *seqs;         /* (owned), NULL: all events */
};

static uint64_t
count(TdEventList *self) {
  td_replay *replay = td_document_get_replay(self->document);
  return self->seqs ? self->seqs->len : td_replay_end(replay) - td_replay_first(replay);
}

static uint64_t
seq_at(TdEventList *self, guint row) {
  td_replay *replay = td_document_get_replay(self->document);
  return self->seqs ? g_array_index(self->seqs, uint64_t, row) : td_replay_first(replay) + row;
}

static GType
get_item_type(GListModel *model) {
  return TD_TYPE_EVENT_ITEM;
}

static guint
get_n_items(GListModel *model) {
  return (guint)MIN(count(TD_EVENT_LIST(model)), G_MAXUINT - 1);
}

static gpointer
get_item(GListModel *model, guint row) {
  TdEventList *self = TD_EVENT_LIST(model);
  if (row >= get_n_items(model)) return NULL;
  TdEventItem *item = g_object_new(TD_TYPE_EVENT_ITEM, NULL);
  item->document = g_object_ref(self->document);
  item->seq = seq_at(self, row);
  return item;
}

static void
list_model_init(GListModelInterface *iface) {
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE(TdEventList, td_event_list, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL, list_model_init))

static void
td_event_list_finalize(GObject *object) {
  TdEventList *self = TD_EVENT_LIST(object);
  g_clear_pointer(&self->seqs, g_array_unref);
  g_clear_object(&self->document);
  G_OBJECT_CLASS(td_event_list_parent_class)->finalize(object);
}

static void
td_event_list_class_init(TdEventListClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_event_list_finalize;
}

static void
td_event_list_init(TdEventList *self) {
}

TdEventList *
td_event_list_new(TdDocument *document) {
  return td_event_list_new_chosen(document, NULL);
}

TdEventList *
td_event_list_new_chosen(TdDocument *document, GArray *seqs) {
  TdEventList *self = g_object_new(TD_TYPE_EVENT_LIST, NULL);
  self->document = g_object_ref(document);
  self->seqs = seqs;
  return self;
}

guint
td_event_list_find(TdEventList *self, uint64_t seq) {
  guint after;
  TD_BISECT(after, 0, get_n_items(G_LIST_MODEL(self)), seq_at(self, after) <= seq);
  return after ? after - 1 : G_MAXUINT;
}
