/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/findings/finding_item.h"

#include "engine/profile/findings/findings.h"
#include "engine/profile/recorder_notes.h"
#include "ui/geometry/format.h"
#include "ui/model/base/dotted.h"
#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"
#include "ui/model/document/document_segment.h"

#include <glib/gi18n.h>
#include <stdlib.h>

struct _TdFindingItem {
  GObject parent_instance;
  char *title, *text, *advice, *place; /* (owned) */
  uint64_t seq;
  uint32_t node, passes[2];
  gboolean has_passes;
};

G_DEFINE_FINAL_TYPE(TdFindingItem, td_finding_item, G_TYPE_OBJECT)

static void
td_finding_item_finalize(GObject *object) {
  TdFindingItem *self = TD_FINDING_ITEM(object);
  g_free(self->title);
  g_free(self->text);
  g_free(self->advice);
  g_free(self->place);
  G_OBJECT_CLASS(td_finding_item_parent_class)->finalize(object);
}

static void
td_finding_item_class_init(TdFindingItemClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_finding_item_finalize;
}

static void
td_finding_item_init(TdFindingItem *self) {
}

static char *
make_title(const td_finding *finding) {
  const char *title = _(td_finding_kind_title(finding->kind));
  g_autofree char *times = td_format_count(finding->n);
  return finding->n > 1 ? g_strdup_printf(_("%s, %s times"), title, times) : g_strdup(title);
}

/* "net.py:9: y = x.log() · step 3 · backward pass 4 (graph task 3) · event 812" */
static char *
make_place(const td_finding *finding) {
  GString *place = g_string_new(finding->line ? finding->line : "");
  char *pass = td_finding_dup_pass(finding);
  if (finding->source) g_string_append_printf(place, ": %s", finding->source);
  if (finding->step != TD_NONE) td_dotted_take(place, g_strdup_printf(_("step %u"), finding->step));
  if (pass) td_dotted_add(place, pass);
  free(pass);
  td_dotted_take(place, g_strdup_printf(_("event %llu"), (unsigned long long)finding->seq));
  return g_string_free(place, FALSE);
}

static TdFindingItem *
item_new(const td_finding *finding) {
  TdFindingItem *self = g_object_new(TD_TYPE_FINDING_ITEM, NULL);
  self->title = make_title(finding);
  self->text = g_strdup(finding->text);
  self->advice = g_strdup(finding->advice);
  self->place = make_place(finding);
  self->seq = finding->seq;
  self->node = finding->node;
  self->has_passes = finding->has_passes;
  memcpy(self->passes, finding->passes, sizeof self->passes);
  return self;
}

const char *
td_finding_item_get_title(TdFindingItem *self) {
  return self->title;
}

const char *
td_finding_item_get_text(TdFindingItem *self) {
  return self->text;
}

const char *
td_finding_item_get_advice(TdFindingItem *self) {
  return self->advice;
}

const char *
td_finding_item_get_place(TdFindingItem *self) {
  return self->place;
}

uint64_t
td_finding_item_get_seq(TdFindingItem *self) {
  return self->seq;
}

gboolean
td_finding_item_get_passes(TdFindingItem *self, uint32_t passes[2]) {
  memcpy(passes, self->passes, sizeof self->passes);
  return self->has_passes;
}

uint32_t
td_finding_item_get_node(TdFindingItem *self) {
  return self->node;
}

char *
td_finding_item_dup_all(TdFindingItem *self) {
  GString *all = g_string_new(self->title);
  const char *lines[] = {self->text, self->advice, self->place};
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
    if (*lines[i]) g_string_append_printf(all, "\n%s", lines[i]);
  return g_string_free(all, FALSE);
}

char *
td_finding_dup_unjudged(TdDocument *document) {
  const td_tape_info *info = td_document_get_info(document);
  const td_catalog *whole = td_document_get_whole(document);
  GString *kinds = g_string_new(NULL);
  for (td_finding_kind kind = TD_FINDING_nonfinite + 1; kind < TD_N_FINDING_KINDS; kind++)
    if (!td_finding_is_judged(info, whole, kind))
      g_string_append_printf(kinds, "%s%s", kinds->len ? "; " : "", _(td_finding_kind_title(kind)));
  g_autofree char *list = g_string_free(kinds, FALSE);
  GString *text = g_string_new(NULL);
  if (*list)
    g_string_printf(text, _("Not judged, because the tape has no such events, or too many: %s."),
                    list);
  uint32_t work = 0;
  for (const char *note; (note = td_recorder_notes_next(whole->recorder_stopped, &work));)
    g_string_append_printf(text, "%s%s", text->len ? "\n" : "", _(note));
  return g_string_free(text, FALSE);
}

gboolean
td_finding_was_looked_for(TdDocument *document) {
  const td_catalog *whole = td_document_get_whole(document);
  if (td_document_get_info(document)->n_by_kind[TD_EVENT_unread]) return FALSE;
  return g_str_equal(td_catalog_setting_find(whole, "anomaly"), "nonfinite") ||
         (td_findings_look_at_leaves(whole) && td_findings_look_at_roots(whole));
}

gboolean
td_finding_can_look_further(TdDocument *document) {
  const td_catalog *whole = td_document_get_whole(document);
  gboolean is_recorded = whole->probe_level == 1 || whole->probe_level == 2;
  return is_recorded && !g_str_equal(td_catalog_setting_find(whole, "anomaly"), "nonfinite");
}

/* ---- looking ---- */

static void
worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  td_error error = {0};
  td_tape *tape = NULL;
  td_findings findings = {0};
  td_status status = td_tape_open(data, &tape, &error);
  if (!status) status = td_findings_make(tape, &findings, &error);
  GListStore *items = g_list_store_new(TD_TYPE_FINDING_ITEM);
  for (uint32_t i = 0; i < findings.n && !status; i++) {
    g_autoptr(TdFindingItem) item = item_new(&findings.items[i]);
    g_list_store_append(items, item);
  }
  td_findings_fini(&findings);
  td_tape_close(tape);
  GError *failure = NULL;
  if (!status) {
    g_task_return_pointer(task, items, g_object_unref);
    return;
  }
  g_object_unref(items);
  td_error_propagate(&failure, &error);
  g_task_return_error(task, failure);
}

void
td_finding_items_async(TdDocument *document, GCancellable *cancellable, GAsyncReadyCallback done,
                       gpointer data) {
  g_autoptr(GTask) task = g_task_new(document, cancellable, done, data);
  g_task_set_task_data(task, g_strdup(td_document_get_path(document)), g_free);
  td_worker_start(task, worker);
}

GListModel *
td_finding_items_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
