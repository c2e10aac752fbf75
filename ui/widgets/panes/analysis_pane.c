/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/analysis_pane.h"

#include "ui/geometry/format.h"
#include "ui/model/analysis/analysis.h"
#include "ui/model/analysis/waiting.h"
#include "ui/model/base/delay.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/document/passes.h"
#include "ui/widgets/panes/table_view.h"
#include "ui/widgets/timeline/memory_plot.h"

#include <glib/gi18n.h>

#define LEAST_MS 150    /* between two tables that follow the playhead */
#define GROWING_MS 3000 /* between two readings of a tape that grows */
#define AROUND 0.5      /* of a run, shown in the timeline on both sides of it */

struct _TdAnalysisPane {
  AdwBin parent_instance;
  GtkBox *choices_box;
  GtkDropDown *analysis, *choice;
  GtkToggleButton *one_pass;
  GtkWidget *filter, *plan;
  GtkSpinButton *devices, *workers;
  GtkEntry *changes;
  GtkLabel *summary, *notes, *reading, *range;
  GtkWidget *range_bar, *all_times;
  GtkWidget *notes_scroller;
  GtkStack *stack;
  GtkSpinner *spinner;
  AdwStatusPage *failure;
  TdMemoryPlot *plot;
  TdTableView *table;
  TdPlayhead *playhead;      /* (owned) */
  TdBrush *brush;            /* (owned) */
  GCancellable *cancellable; /* (owned) of the table that is made, or NULL */
  guint choices[TD_N_ANALYSES];
  char *shown;         /* (owned) what the table is of, or NULL: nothing */
  char *wanted;        /* (owned) what is being made */
  guint later;         /* id of a timeout, or 0 */
  gboolean is_setting; /* what a person may choose */
};

G_DEFINE_FINAL_TYPE(TdAnalysisPane, td_analysis_pane, ADW_TYPE_BIN)

static TdAnalysis
analysis_of(TdAnalysisPane *self) {
  return (TdAnalysis)gtk_drop_down_get_selected(self->analysis);
}

/* The outermost pass around the one shown. */
static uint32_t
pass_shown(TdAnalysisPane *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  uint32_t graph_task =
      td_document_graph_task_at(document, td_playhead_get_position(self->playhead));
  return td_pass_outermost(td_document_get_whole(document), graph_task);
}

static td_range
range_of(TdAnalysisPane *self) {
  double from, to;
  if (!self->brush || !td_brush_get(self->brush, &from, &to)) return (td_range){0};
  return (td_range){true, (uint64_t)MAX(from, 0), (uint64_t)MAX(to, 1)};
}

static TdAnalysisWish
wish_of(TdAnalysisPane *self) {
  TdAnalysis analysis = analysis_of(self);
  gboolean one = gtk_toggle_button_get_active(self->one_pass);
  return (TdAnalysisWish){.analysis = analysis,
                          .choice = self->choices[analysis],
                          .graph_task = one ? pass_shown(self) : TD_NONE,
                          .range = range_of(self),
                          .n_devices = (guint)gtk_spin_button_get_value_as_int(self->devices),
                          .n_workers = (guint)gtk_spin_button_get_value_as_int(self->workers),
                          .changes = gtk_editable_get_text(GTK_EDITABLE(self->changes))};
}

/* Two wishes of the same words have the same table. */
static char *
dup_words(TdAnalysisPane *self, const TdAnalysisWish *wish) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  gboolean plan = wish->analysis == TD_ANALYSIS_whatif;
  return g_strdup_printf(
      "%d %u %u %u %u %s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %s",
      wish->analysis, wish->choice, plan ? 0 : wish->graph_task, plan ? wish->n_devices : 0,
      plan ? wish->n_workers : 0, plan ? wish->changes : "", wish->range.from_ns, wish->range.to_ns,
      td_document_get_length(document), td_document_get_path(document));
}

/* ---- what is shown ---- */

/* A spinner that nobody sees would have the window make frames all the time. */
static void
show_page(TdAnalysisPane *self, const char *page) {
  gtk_spinner_set_spinning(self->spinner, strcmp(page, "busy") == 0);
  gtk_stack_set_visible_child_name(self->stack, page);
}

static void
show_texts(TdAnalysisPane *self, const char *summary, const char *notes) {
  gtk_label_set_text(self->summary, summary);
  gtk_widget_set_visible(GTK_WIDGET(self->summary), *summary != '\0');
  gtk_label_set_text(self->notes, notes);
  gtk_widget_set_visible(self->notes_scroller, *notes != '\0');
}

static void
forget(TdAnalysisPane *self) {
  if (self->cancellable) g_cancellable_cancel(self->cancellable);
  g_clear_object(&self->cancellable);
  g_clear_pointer(&self->wanted, g_free);
}

static void
show_plot(TdAnalysisPane *self, TdTable *table) {
  const td_memory_areas *areas = table ? td_table_get_areas(table) : NULL;
  td_range range = range_of(self);
  td_memory_plot_set_areas(self->plot, areas, (double)range.from_ns, (double)range.to_ns);
  gtk_widget_set_visible(GTK_WIDGET(self->plot), areas && areas->samples.n > 0);
}

static void
clear(TdAnalysisPane *self) {
  forget(self);
  g_clear_pointer(&self->shown, g_free);
  show_plot(self, NULL);
  td_table_view_show(self->table, NULL, NULL);
  show_texts(self, "", "");
}

static void
show_table(TdAnalysisPane *self, TdTable *table) {
  guint n = g_list_model_get_n_items(td_table_get_rows(table));
  show_plot(self, table);
  td_table_view_show(self->table, table, td_analysis_title(analysis_of(self)));
  show_texts(self, td_table_get_summary(table), td_table_get_notes(table));
  show_page(self, n ? "table" : "empty");
}

static void
show_failure(TdAnalysisPane *self, const char *message) {
  g_autofree char *text = g_markup_escape_text(message, -1);
  clear(self);
  adw_status_page_set_description(self->failure, text);
  show_page(self, "failure");
}

static void
made(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdAnalysisPane) self = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(TdTable) table = td_analysis_finish(result, &error);
  if (g_task_get_cancellable(G_TASK(result)) != self->cancellable) return;
  g_autofree char *words = g_steal_pointer(&self->wanted);
  g_clear_object(&self->cancellable);
  if (table)
    show_table(self, table);
  else
    show_failure(self, error->message);
  g_free(self->shown);
  self->shown = g_steal_pointer(&words);
}

static void
show_reading(TdAnalysisPane *self) {
  g_autofree char *n = td_format_count(td_playhead_get_length(self->playhead));
  g_autofree char *text = g_strdup_printf(_("Reading %s events"), n);
  gtk_label_set_text(self->reading, text);
  show_page(self, "busy");
}

static void
make(TdAnalysisPane *self, TdDocument *document, const TdAnalysisWish *wish, char *words) {
  forget(self);
  if (!td_document_is_live(document)) {
    clear(self);
    show_reading(self);
  }
  self->wanted = words;
  self->cancellable = g_cancellable_new();
  td_analysis_async(document, wish, self->cancellable, made, g_object_ref(self));
}

/* Says what the range of time does to the table. */
static void
show_range(TdAnalysisPane *self, TdAnalysis analysis) {
  g_autofree char *range = self->brush ? td_brush_dup_text(self->brush) : NULL;
  gtk_widget_set_visible(self->range_bar, range != NULL);
  if (!range) return;
  g_autofree char *text = td_analysis_has_ranges(analysis) ? g_strdup_printf(_("Only in %s"), range)
                          : analysis == TD_ANALYSIS_waiting
                              ? g_strdup(_("At the playhead, in no range of time"))
                              : g_steal_pointer(&range);
  gtk_label_set_text(self->range, text);
}

/* Nothing is shown rather than what happened at all times. */
static void
show_no_range(TdAnalysisPane *self) {
  clear(self);
  show_page(self, "whole");
}

static void
update(TdAnalysisPane *self) {
  TdDocument *document = self->playhead ? td_playhead_get_document(self->playhead) : NULL;
  g_clear_handle_id(&self->later, g_source_remove);
  if (!document || !gtk_widget_get_mapped(GTK_WIDGET(self))) return;
  TdAnalysisWish wish = wish_of(self);
  show_range(self, wish.analysis);
  if (wish.analysis == TD_ANALYSIS_waiting) {
    g_autoptr(TdTable) table = td_waiting_table(document);
    forget(self);
    g_clear_pointer(&self->shown, g_free);
    show_table(self, table);
    return;
  }
  if (wish.range.is_set && !td_analysis_has_ranges(wish.analysis)) {
    show_no_range(self);
    return;
  }
  g_autofree char *words = dup_words(self, &wish);
  if (g_strcmp0(words, self->wanted ? self->wanted : self->shown) == 0) return;
  make(self, document, &wish, g_steal_pointer(&words));
}

static gboolean
later_cb(gpointer data) {
  TdAnalysisPane *self = data;
  self->later = 0;
  update(self);
  return G_SOURCE_REMOVE;
}

static void
update_after(TdAnalysisPane *self, guint ms) {
  if (!self->later) self->later = td_delay_add(ms, later_cb, self);
}

static void
position_changed(TdAnalysisPane *self) {
  gboolean one = gtk_toggle_button_get_active(self->one_pass);
  if (analysis_of(self) == TD_ANALYSIS_waiting || one) update_after(self, LEAST_MS);
}

static void
document_changed(TdAnalysisPane *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (!document)
    clear(self);
  else if (td_document_is_growing(document) && self->shown)
    update_after(self, GROWING_MS);
  else
    update(self);
}

/* ---- what a person chooses ---- */

static void
list_choices(TdAnalysisPane *self, TdAnalysis analysis) {
  g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
  const char *name;
  for (guint i = 0; (name = td_analysis_choice(analysis, i)); i++)
    gtk_string_list_append(names, name);
  gtk_drop_down_set_model(self->choice, G_LIST_MODEL(names));
  gtk_drop_down_set_selected(self->choice, self->choices[analysis]);
  gtk_widget_set_visible(GTK_WIDGET(self->choice),
                         g_list_model_get_n_items(G_LIST_MODEL(names)) > 0);
}

static void
show_controls(TdAnalysisPane *self) {
  TdAnalysis analysis = analysis_of(self);
  self->is_setting = TRUE;
  list_choices(self, analysis);
  self->is_setting = FALSE;
  gtk_widget_set_visible(self->plan, analysis == TD_ANALYSIS_whatif);
  gtk_widget_set_visible(GTK_WIDGET(self->one_pass),
                         analysis != TD_ANALYSIS_waiting && analysis != TD_ANALYSIS_whatif);
  gtk_widget_set_visible(self->filter, analysis != TD_ANALYSIS_whatif);
  gtk_editable_set_text(GTK_EDITABLE(self->filter), "");
}

static void
analysis_changed(TdAnalysisPane *self) {
  show_controls(self);
  update(self);
}

static void
choice_changed(TdAnalysisPane *self) {
  if (self->is_setting) return;
  self->choices[analysis_of(self)] = gtk_drop_down_get_selected(self->choice);
  update(self);
}

/* Nobody would guess what no devices are. */
static gboolean
show_devices(GtkSpinButton *devices, gpointer data) {
  int n = (int)gtk_adjustment_get_value(gtk_spin_button_get_adjustment(devices));
  g_autofree char *text = n ? g_strdup_printf("%d", n) : g_strdup(_("as recorded"));
  if (strcmp(gtk_editable_get_text(GTK_EDITABLE(devices)), text) != 0)
    gtk_editable_set_text(GTK_EDITABLE(devices), text);
  return TRUE;
}

static void
filter_changed(TdAnalysisPane *self) {
  td_table_view_filter(self->table, gtk_editable_get_text(GTK_EDITABLE(self->filter)));
}

/* ---- a row ---- */

static void
marked(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdPlayhead) playhead = data;
  GArray *nodes = td_analysis_nodes_finish(result, NULL);
  if (td_playhead_get_document(playhead) == TD_DOCUMENT(source))
    td_playhead_set_marks(playhead, nodes);
  else
    g_array_unref(nodes);
}

static void
mark_nodes(TdAnalysisPane *self, TdTableRow *row) {
  TdAnalysisWish wish = wish_of(self);
  if (wish.analysis != TD_ANALYSIS_profile) return;
  TdDocument *document = td_playhead_get_document(self->playhead);
  wish.graph_task = td_document_graph_task_at(document, td_playhead_get_position(self->playhead));
  td_analysis_nodes_async(document, &wish, td_table_row_get_text(row, 0), NULL, marked,
                          g_object_ref(self->playhead));
}

static void
row_chosen(TdAnalysisPane *self, TdTableRow *row) {
  TdRowPlace place = td_table_row_get_place(row);
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (!document) return;
  if (place.position == UINT64_MAX) {
    if (place.node != TD_NONE) td_playhead_set_selection(self->playhead, place.node);
    return;
  }
  double around = AROUND * (place.to_ns - place.from_ns);
  gboolean is_here = td_document_covers(document, place.position);
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_show_node(self->playhead, place.position, place.node);
  if (!is_here || place.to_ns <= 0) return;
  td_playhead_set_span(self->playhead, place.from_ns - around, place.to_ns + around);
  mark_nodes(self, row);
}

/* ---- the widget ---- */

void
td_analysis_pane_set_playhead(TdAnalysisPane *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  td_canvas_set_playhead(TD_CANVAS(self->plot), playhead);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(position_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect(self, "map", G_CALLBACK(update), NULL);
}

/* The table of another range must not stand under the words of this one. */
static void
brush_changed(TdAnalysisPane *self) {
  clear(self);
  update(self);
}

void
td_analysis_pane_set_brush(TdAnalysisPane *self, TdBrush *brush) {
  if (!g_set_object(&self->brush, brush)) return;
  g_signal_connect_object(brush, "changed", G_CALLBACK(brush_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object(self->all_times, "clicked", G_CALLBACK(td_brush_clear), brush,
                          G_CONNECT_SWAPPED);
}

gboolean
td_analysis_pane_show(TdAnalysisPane *self, const char *name) {
  for (guint i = 0; td_analysis_name(i); i++) {
    if (strcmp(td_analysis_name(i), name) != 0) continue;
    gtk_drop_down_set_selected(self->analysis, i);
    return TRUE;
  }
  return FALSE;
}

const char *
td_analysis_pane_get_policy(TdAnalysisPane *self, TdAnalysisWish *wish) {
  *wish = wish_of(self);
  if (wish->analysis != TD_ANALYSIS_whatif) return NULL;
  TdTableRow *row = td_table_view_get_selected(self->table);
  return row ? td_table_row_get_text(row, 0) : NULL;
}

const char *
td_analysis_pane_get_name(TdAnalysisPane *self) {
  return td_analysis_name(analysis_of(self));
}

void
td_analysis_pane_set_wide(TdAnalysisPane *self, gboolean is_wide) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(self->choices_box),
                                 is_wide ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL);
}

gboolean
td_analysis_pane_is_busy(TdAnalysisPane *self) {
  return self->cancellable != NULL || self->later != 0;
}

static void
td_analysis_pane_dispose(GObject *object) {
  TdAnalysisPane *self = TD_ANALYSIS_PANE(object);
  forget(self);
  g_clear_handle_id(&self->later, g_source_remove);
  g_clear_pointer(&self->shown, g_free);
  g_clear_object(&self->playhead);
  g_clear_object(&self->brush);
  G_OBJECT_CLASS(td_analysis_pane_parent_class)->dispose(object);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdAnalysisPane, child)

static void
td_analysis_pane_class_init(TdAnalysisPaneClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_analysis_pane_dispose;
  g_type_ensure(TD_TYPE_TABLE_VIEW);
  g_type_ensure(TD_TYPE_MEMORY_PLOT);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/analysis_pane.ui");
  BIND(choices_box);
  BIND(analysis);
  BIND(choice);
  BIND(one_pass);
  BIND(filter);
  BIND(plan);
  BIND(devices);
  BIND(workers);
  BIND(changes);
  BIND(summary);
  BIND(notes);
  BIND(reading);
  BIND(notes_scroller);
  BIND(range);
  BIND(range_bar);
  BIND(all_times);
  BIND(stack);
  BIND(spinner);
  BIND(failure);
  BIND(table);
  BIND(plot);
}

static void
listen(TdAnalysisPane *self) {
  g_signal_connect_swapped(self->analysis, "notify::selected", G_CALLBACK(analysis_changed), self);
  g_signal_connect_swapped(self->choice, "notify::selected", G_CALLBACK(choice_changed), self);
  g_signal_connect_swapped(self->one_pass, "toggled", G_CALLBACK(update), self);
  g_signal_connect_swapped(self->filter, "search-changed", G_CALLBACK(filter_changed), self);
  g_signal_connect(self->devices, "output", G_CALLBACK(show_devices), NULL);
  g_signal_connect_swapped(self->devices, "value-changed", G_CALLBACK(update), self);
  g_signal_connect_swapped(self->workers, "value-changed", G_CALLBACK(update), self);
  g_signal_connect_swapped(self->changes, "activate", G_CALLBACK(update), self);
  g_signal_connect_swapped(self->table, "chosen", G_CALLBACK(row_chosen), self);
}

static void
td_analysis_pane_init(TdAnalysisPane *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_autoptr(GtkStringList) titles = gtk_string_list_new(NULL);
  for (guint i = 0; i < TD_N_ANALYSES; i++)
    gtk_string_list_append(titles, td_analysis_title((TdAnalysis)i));
  gtk_drop_down_set_model(self->analysis, G_LIST_MODEL(titles));
  show_controls(self);
  listen(self);
}
