/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/problems_pane.h"

#include "ui/model/document_texts.h"
#include "ui/model/playhead_steps.h"
#include "ui/model/problems.h"
#include "ui/widgets/event_rows.h"
#include "ui/widgets/list_bin.h"

struct _TdProblemsPane {
  AdwBin parent_instance;
  GtkStack *stack;
  AdwStatusPage *none;
  GtkListView *list;
  TdPlayhead *playhead; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdProblemsPane, td_problems_pane, ADW_TYPE_BIN)

static void
follow(TdProblemsPane *self) {
  if (!td_playhead_get_document(self->playhead) || !gtk_widget_get_mapped(GTK_WIDGET(self))) return;
  uint64_t position = td_playhead_get_position(self->playhead);
  td_event_rows_follow(self->list, position ? position - 1 : UINT64_MAX);
}

static void
document_changed(TdProblemsPane *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  td_event_rows_clear(self->list);
  if (!document) return;
  size_t n;
  const td_catalog_mention *problems = td_document_get_problems(document, &n);
  GArray *seqs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (size_t i = 0; i < n; i++)
    g_array_append_val(seqs, problems[i].seq);
  td_event_rows_show(self->list, td_event_list_new_chosen(document, seqs));
  g_autofree char *calm = td_document_dup_calm_text(document);
  adw_status_page_set_description(self->none, calm);
  gtk_stack_set_visible_child_name(self->stack, n ? "list" : "none");
}

static void
row_activated(GtkListView *list, guint row, gpointer data) {
  TdProblemsPane *self = data;
  uint64_t seq = td_event_rows_activated(list, row);
  td_playhead_show_problem(self->playhead, seq);
}

void
td_problems_pane_set_playhead(TdProblemsPane *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(follow), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect(self, "map", G_CALLBACK(follow), NULL);
}

static void
td_problems_pane_dispose(GObject *object) {
  g_clear_object(&TD_PROBLEMS_PANE(object)->playhead);
  G_OBJECT_CLASS(td_problems_pane_parent_class)->dispose(object);
}

static void
td_problems_pane_class_init(TdProblemsPaneClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_problems_pane_dispose;
  g_type_ensure(TD_TYPE_LIST_BIN);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/problems_pane.ui");
  gtk_widget_class_bind_template_child(widget_class, TdProblemsPane, stack);
  gtk_widget_class_bind_template_child(widget_class, TdProblemsPane, none);
  gtk_widget_class_bind_template_child(widget_class, TdProblemsPane, list);
}

static void
td_problems_pane_init(TdProblemsPane *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_autoptr(GtkListItemFactory) factory = td_event_rows_new(TRUE);
  gtk_list_view_set_factory(self->list, factory);
  g_signal_connect(self->list, "activate", G_CALLBACK(row_activated), self);
}
