/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/findings_pane.h"

#include "ui/model/document/document_texts.h"
#include "ui/model/findings/finding_item.h"
#include "ui/model/findings/problems.h"
#include "ui/model/playhead/playhead_steps.h"
#include "ui/widgets/base/focus.h"
#include "ui/widgets/base/list_bin.h"
#include "ui/widgets/base/list_copy.h"
#include "ui/widgets/panes/event_rows.h"
#include "ui/widgets/panes/finding_card.h"

#include <glib/gi18n.h>

/* A longer tape is searched when somebody looks at the pane: it takes a second for each 10 million
 * events. */
#define SEARCHED_AT_ONCE 2000000

struct _TdFindingsPane {
  AdwBin parent_instance;
  GtkStackSwitcher *switcher;
  GtkStack *stack, *findings;
  GtkStackPage *list_page;
  AdwStatusPage *none;
  GtkWidget *again; /* a button, where a recording can look further */
  GtkListBox *cards;
  GtkListView *list;
  TdPlayhead *playhead;      /* (owned) */
  TdShownChain *way;         /* (owned) */
  GCancellable *cancellable; /* (owned) of the search under way, or NULL */
  gboolean is_due;           /* the document was not searched yet */
  guint count;
};

enum { PROP_COUNT = 1, N_PROPS };
static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE(TdFindingsPane, td_findings_pane, ADW_TYPE_BIN)

static void
set_count(TdFindingsPane *self, guint count) {
  if (self->count == count) return;
  self->count = count;
  g_object_notify_by_pspec(G_OBJECT(self), props[PROP_COUNT]);
}

static void
follow(TdFindingsPane *self) {
  if (!td_playhead_get_document(self->playhead) || !gtk_widget_get_mapped(GTK_WIDGET(self))) return;
  uint64_t position = td_playhead_get_position(self->playhead);
  td_event_rows_follow(self->list, position ? position - 1 : UINT64_MAX);
}

/* ---- findings ---- */

static void
say(TdFindingsPane *self, const char *title, const char *description) {
  adw_status_page_set_icon_name(self->none, NULL);
  adw_status_page_set_title(self->none, title);
  adw_status_page_set_description(self->none, description);
  gtk_stack_set_visible_child_name(self->findings, "none");
}

static GtkWidget *
make_card(gpointer item, gpointer data) {
  return td_finding_card_new(item);
}

static void
show_findings(TdFindingsPane *self, GListModel *items) {
  guint n = g_list_model_get_n_items(items);
  TdDocument *document = td_playhead_get_document(self->playhead);
  td_focus_drop(GTK_WIDGET(self->cards));
  gtk_list_box_bind_model(self->cards, items, make_card, NULL, NULL);
  gtk_widget_set_visible(self->again, td_finding_can_look_further(document));
  set_count(self, n);
  if (n) {
    gtk_stack_set_visible_child_name(self->findings, "cards");
    return;
  }
  g_autofree char *calm = td_document_dup_calm_text(document);
  g_autofree char *unjudged = td_finding_dup_unjudged(document);
  g_autofree char *text = g_strjoin(*unjudged ? "\n\n" : "", calm, unjudged, NULL);
  say(self, _("No Findings"), text);
  bool is_calm = td_finding_was_looked_for(document);
  if (is_calm) adw_status_page_set_icon_name(self->none, "emblem-ok-symbolic");
}

static void
found(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdFindingsPane) self = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GListModel) items = td_finding_items_finish(result, &error);
  if (g_task_get_cancellable(G_TASK(result)) != self->cancellable) return;
  g_clear_object(&self->cancellable);
  if (items)
    show_findings(self, items);
  else
    say(self, _("The Tape Cannot Be Searched"), error->message);
}

static void
stop(TdFindingsPane *self) {
  if (self->cancellable) g_cancellable_cancel(self->cancellable);
  g_clear_object(&self->cancellable);
}

static void
search(TdFindingsPane *self) {
  stop(self);
  self->is_due = FALSE;
  self->cancellable = g_cancellable_new();
  td_finding_items_async(td_playhead_get_document(self->playhead), self->cancellable, found,
                         g_object_ref(self));
}

static void
mapped(TdFindingsPane *self) {
  if (self->is_due) search(self);
  follow(self);
}

gboolean
td_findings_pane_is_busy(TdFindingsPane *self) {
  return self->cancellable && gtk_widget_get_mapped(GTK_WIDGET(self));
}

/* ---- events ---- */

static void
list_events(TdFindingsPane *self, TdDocument *document) {
  size_t n;
  const td_catalog_mention *problems = td_document_get_problems(document, &n);
  GArray *seqs = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (size_t i = 0; i < n; i++)
    g_array_append_val(seqs, problems[i].seq);
  td_event_rows_show(self->list, td_event_list_new_chosen(document, seqs));
  gtk_stack_page_set_visible(self->list_page, n > 0);
  gtk_widget_set_visible(GTK_WIDGET(self->switcher), n > 0);
  if (!n) gtk_stack_set_visible_child_name(self->stack, "findings");
  set_count(self, (guint)n);
}

static void
document_changed(TdFindingsPane *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  stop(self);
  td_event_rows_clear(self->list);
  td_focus_drop(GTK_WIDGET(self->cards));
  gtk_list_box_bind_model(self->cards, NULL, NULL, NULL, NULL);
  self->is_due = document != NULL;
  if (!document) return;
  say(self, _("Looking for Findings…"), NULL);
  list_events(self, document);
  bool is_short = td_document_get_info(document)->n_events <= SEARCHED_AT_ONCE;
  if (is_short || gtk_widget_get_mapped(GTK_WIDGET(self))) search(self);
}

static void
row_activated(GtkListView *list, guint row, gpointer data) {
  TdFindingsPane *self = data;
  uint64_t seq = td_event_rows_activated(list, row);
  td_playhead_show_problem(self->playhead, seq);
}

static void
show_event(GtkWidget *widget, const char *name, GVariant *seq) {
  td_playhead_show_problem(TD_FINDINGS_PANE(widget)->playhead, g_variant_get_uint64(seq));
}

/* A way that somebody walks already is another one. */
static void
ask_why(GtkWidget *widget, const char *name, GVariant *seq) {
  TdFindingsPane *self = TD_FINDINGS_PANE(widget);
  td_shown_chain_end(self->way);
  show_event(widget, name, seq);
  td_shown_chain_step(self->way);
}

/* ---- the widget ---- */

void
td_findings_pane_set_playhead(TdFindingsPane *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(follow), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect(self, "map", G_CALLBACK(mapped), NULL);
}

void
td_findings_pane_set_chain(TdFindingsPane *self, TdShownChain *way) {
  g_set_object(&self->way, way);
}

static void
td_findings_pane_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec) {
  g_value_set_uint(value, TD_FINDINGS_PANE(object)->count);
}

static void
td_findings_pane_dispose(GObject *object) {
  TdFindingsPane *self = TD_FINDINGS_PANE(object);
  stop(self);
  g_clear_object(&self->playhead);
  g_clear_object(&self->way);
  G_OBJECT_CLASS(td_findings_pane_parent_class)->dispose(object);
}

static void
td_findings_pane_class_init(TdFindingsPaneClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->get_property = td_findings_pane_get_property;
  G_OBJECT_CLASS(klass)->dispose = td_findings_pane_dispose;
  props[PROP_COUNT] = g_param_spec_uint("count", NULL, NULL, 0, G_MAXUINT, 0,
                                        G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties(G_OBJECT_CLASS(klass), N_PROPS, props);
  g_type_ensure(TD_TYPE_LIST_BIN);
  gtk_widget_class_install_action(widget_class, "finding.show", "t", show_event);
  gtk_widget_class_install_action(widget_class, "finding.why", "t", ask_why);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/findings_pane.ui");
  gtk_widget_class_bind_template_child(widget_class, TdFindingsPane, switcher);
  gtk_widget_class_bind_template_child(widget_class, TdFindingsPane, stack);
  gtk_widget_class_bind_template_child(widget_class, TdFindingsPane, findings);
  gtk_widget_class_bind_template_child(widget_class, TdFindingsPane, list_page);
  gtk_widget_class_bind_template_child(widget_class, TdFindingsPane, none);
  gtk_widget_class_bind_template_child(widget_class, TdFindingsPane, again);
  gtk_widget_class_bind_template_child(widget_class, TdFindingsPane, cards);
  gtk_widget_class_bind_template_child(widget_class, TdFindingsPane, list);
}

static void
td_findings_pane_init(TdFindingsPane *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_autoptr(GtkListItemFactory) factory = td_event_rows_new(TRUE);
  gtk_list_view_set_factory(self->list, factory);
  g_signal_connect(self->list, "activate", G_CALLBACK(row_activated), self);
  td_list_copy_add(GTK_WIDGET(self->list), td_event_rows_dup_text, NULL, NULL);
}
