/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/answers/answer_item.h"

#include "ui/geometry/format.h"
#include "ui/model/base/dotted.h"
#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"

#include <glib/gi18n.h>

struct _TdAnswerItem {
  GObject parent_instance;
  td_answer_topic topic;
  char *text, *detail, *figure, *place; /* (owned) */
  double share;
  uint64_t seq;
  uint32_t node;
};

G_DEFINE_FINAL_TYPE(TdAnswerItem, td_answer_item, G_TYPE_OBJECT)

static void
td_answer_item_finalize(GObject *object) {
  TdAnswerItem *self = TD_ANSWER_ITEM(object);
  g_free(self->text);
  g_free(self->detail);
  g_free(self->figure);
  g_free(self->place);
  G_OBJECT_CLASS(td_answer_item_parent_class)->finalize(object);
}

static void
td_answer_item_class_init(TdAnswerItemClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_answer_item_finalize;
}

static void
td_answer_item_init(TdAnswerItem *self) {
}

/* "net.py:9 · step 3 · event 812" */
static char *
make_place(const td_answer *answer) {
  GString *place = g_string_new(answer->line ? answer->line : "");
  if (answer->step != TD_NONE) td_dotted_take(place, g_strdup_printf(_("step %u"), answer->step));
  if (answer->seq != UINT64_MAX)
    td_dotted_take(place, g_strdup_printf(_("event %llu"), (unsigned long long)answer->seq));
  return g_string_free(place, FALSE);
}

static TdAnswerItem *
item_new(const td_answer *answer) {
  TdAnswerItem *self = g_object_new(TD_TYPE_ANSWER_ITEM, NULL);
  self->topic = answer->topic;
  self->text = g_strdup(answer->text);
  self->detail = g_strdup(answer->detail);
  self->figure = td_format_figure(answer->ns, answer->bytes);
  self->place = make_place(answer);
  self->share = answer->share;
  self->seq = answer->seq;
  self->node = answer->node;
  return self;
}

td_answer_topic
td_answer_item_get_topic(TdAnswerItem *self) {
  return self->topic;
}

const char *
td_answer_item_get_title(TdAnswerItem *self) {
  return td_answer_topic_title(self->topic);
}

const char *
td_answer_item_get_text(TdAnswerItem *self) {
  return self->text;
}

const char *
td_answer_item_get_detail(TdAnswerItem *self) {
  return self->detail;
}

const char *
td_answer_item_get_figure(TdAnswerItem *self) {
  return self->figure;
}

const char *
td_answer_item_get_place(TdAnswerItem *self) {
  return self->place;
}

double
td_answer_item_get_share(TdAnswerItem *self) {
  return self->share;
}

uint64_t
td_answer_item_get_seq(TdAnswerItem *self) {
  return self->seq;
}

uint32_t
td_answer_item_get_node(TdAnswerItem *self) {
  return self->node;
}

/* ---- making them ---- */

static void
worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  td_error error = {0};
  td_tape *tape = NULL;
  td_answers answers = {0};
  td_status status = td_tape_open(data, &tape, &error);
  if (!status) status = td_answers_make(tape, &answers, &error);
  g_autoptr(GListStore) items = g_list_store_new(TD_TYPE_ANSWER_ITEM);
  for (uint32_t i = 0; i < answers.n && !status; i++) {
    g_autoptr(TdAnswerItem) item = item_new(&answers.items[i]);
    g_list_store_append(items, item);
  }
  td_answers_fini(&answers);
  td_tape_close(tape);
  if (!status) {
    g_task_return_pointer(task, g_steal_pointer(&items), g_object_unref);
    return;
  }
  GError *failure = NULL;
  td_error_propagate(&failure, &error);
  g_task_return_error(task, failure);
}

void
td_answer_items_async(TdDocument *document, GCancellable *cancellable, GAsyncReadyCallback done,
                      gpointer data) {
  g_autoptr(GTask) task = g_task_new(document, cancellable, done, data);
  g_task_set_task_data(task, g_strdup(td_document_get_path(document)), g_free);
  td_worker_start(task, worker);
}

GListModel *
td_answer_items_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
