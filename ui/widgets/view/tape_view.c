/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/view/tape_view.h"

#include "ui/draw/queues_picture.h"
#include "ui/draw/timeline_picture.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/document/passes.h"
#include "ui/widgets/base/wrapped.h"
#include "ui/widgets/graph/fold_bar.h"
#include "ui/widgets/graph/graph_canvas.h"
#include "ui/widgets/graph/minimap.h"
#include "ui/widgets/graph/subset_bar.h"
#include "ui/widgets/panes/answer_cover.h"
#include "ui/widgets/panes/answers_pane.h"
#include "ui/widgets/panes/events_pane.h"
#include "ui/widgets/panes/findings_pane.h"
#include "ui/widgets/panes/inspector.h"
#include "ui/widgets/panes/overlay_list.h"
#include "ui/widgets/timeline/queues_canvas.h"
#include "ui/widgets/timeline/segment_bar.h"
#include "ui/widgets/timeline/timeline_canvas.h"
#include "ui/widgets/view/chain_bar.h"
#include "ui/widgets/view/live_bar.h"
#include "ui/widgets/view/transport.h"

#include <glib/gi18n.h>

struct _TdTapeView {
  GtkBox parent_instance;
  TdLiveBar *live;
  TdLessonPane *lesson;
  GtkInfoBar *warning_bar;
  GtkLabel *warning;
  GtkPaned *side_paned, *lower_paned, *queues_paned;
  TdGraphCanvas *graph;
  TdSubsetBar *subset_bar;
  TdFoldBar *fold_bar;
  TdMinimap *minimap;
  GtkWidget *pass_box, *process;
  GtkDropDown *overlay;
  GtkLabel *pass, *pass_in_short, *why; /* in short: for a narrow graph */
  GtkWidget *why_bin, *queues_hidden, *timeline_hidden;
  GtkScrolledWindow *queues_scroller;
  TdQueuesCanvas *queues;
  TdTimelineCanvas *timeline;
  GtkWidget *side, *stack_bin, *queues_pane;
  AdwViewSwitcher *switcher;
  AdwViewStack *side_stack;
  TdInspector *inspector;
  TdEventsPane *events;
  TdFindingsPane *findings;
  TdAnswersPane *answers;
  TdAnalysisPane *analysis;
  TdSegmentBar *segment_bar;
  TdChainBar *chain_bar;
  TdTransport *transport;
  GMenuModel *node_menu;
  TdPlayhead *playhead;   /* (owned) */
  TdShownChain *way;      /* (owned) */
  TdStopList *stops;      /* (owned) */
  TdStopRun *run;         /* (owned) */
  TdBookmarks *bookmarks; /* (owned) */
  TdBrush *brush;         /* (owned) */
  TdPanes panes;
  TdLayout layout_before; /* a lesson or a quiz began */
  uint64_t why_seq;       /* pop that `why` explains, UINT64_MAX: none */
};

G_DEFINE_FINAL_TYPE(TdTapeView, td_tape_view, GTK_TYPE_BOX)

/* Where not all strips fit, the one that something happened in is in view. */
static void
show_queue(TdTapeView *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  uint32_t queue = 0;
  if (!document || td_document_find_last_pop(document, &queue) == UINT64_MAX) return;
  const td_catalog *catalog = td_document_get_catalog(document);
  GtkAdjustment *scroll = gtk_scrolled_window_get_vadjustment(self->queues_scroller);
  double strip = (double)td_queues_canvas_get_needed(self->queues) / catalog->n_queues;
  gtk_adjustment_clamp_page(scroll, queue * strip, (queue + 1) * strip);
}

static void
show_why(TdTapeView *self, TdDocument *document) {
  uint32_t queue = 0;
  uint64_t seq = td_document_find_last_pop(document, &queue);
  if (seq == self->why_seq) return;
  self->why_seq = seq;
  show_queue(self);
  bool unseen = td_document_get_info(document)->known[TD_EVENT_queue_pop] == TD_knowledge_absent;
  const char *none = unseen ? _("A recording of this level does not observe ready queues.")
                            : _("No thread has popped a task yet.");
  g_autofree char *text =
      seq == UINT64_MAX ? g_strdup(none) : td_document_dup_pop_text(document, seq);
  gtk_label_set_text(self->why, text);
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->why), text);
}

/* A segment without passes follows a pass of another segment. */
static uint32_t
pass_to_name(TdTapeView *self, TdDocument *document) {
  uint64_t position = td_playhead_get_position(self->playhead);
  uint32_t graph_task = td_document_graph_task_at(document, position);
  if (graph_task != TD_NONE || !td_document_is_cut(document)) return graph_task;
  return td_pass_at(td_document_get_whole(document), td_document_get_length(document),
                    td_document_get_process(document), position);
}

static void
show_pass(TdTapeView *self, TdDocument *document) {
  uint32_t n;
  const td_catalog *whole = td_document_get_whole(document);
  uint32_t process = td_document_get_process(document), graph_task = pass_to_name(self, document);
  uint32_t number = td_pass_number(whole, process, graph_task, &n);
  g_autofree char *text = td_document_dup_pass_text(document, graph_task);
  g_autofree char *in_short = g_strdup_printf("%u / %u", number, n);
  gtk_label_set_text(self->pass, text);
  gtk_label_set_text(self->pass_in_short, in_short);
  gtk_widget_set_visible(self->pass_box, n > 1 || gtk_widget_get_visible(self->process));
}

static void
process_changed(TdTapeView *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (!document) return;
  gtk_drop_down_set_selected(GTK_DROP_DOWN(self->process), td_document_get_process(document));
  show_why(self, document);
  show_pass(self, document);
}

static void
process_chosen(TdTapeView *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  guint chosen = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->process));
  if (document && chosen != GTK_INVALID_LIST_POSITION) td_document_set_process(document, chosen);
}

/* Each process has graphs of its own: one is shown, and this chooses which. */
static void
list_processes(TdTapeView *self, TdDocument *document) {
  g_auto(GStrv) processes = td_document_dup_process_names(document);
  g_autoptr(GtkStringList) names = gtk_string_list_new((const char *const *)processes);
  g_signal_handlers_block_by_func(self->process, process_chosen, self);
  gtk_drop_down_set_model(GTK_DROP_DOWN(self->process), G_LIST_MODEL(names));
  g_signal_handlers_unblock_by_func(self->process, process_chosen, self);
  gtk_widget_set_visible(self->process, g_strv_length(processes) > 1);
  g_signal_connect_object(document, "notify::process", G_CALLBACK(process_changed), self,
                          G_CONNECT_SWAPPED);
}

static void
position_changed(TdTapeView *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (!document) return;
  show_why(self, document);
  show_pass(self, document);
}

/* What somebody has read and closed does not come back with the next segment of the tape. */
static void
warn(TdTapeView *self, const char *warning) {
  if (strcmp(gtk_label_get_text(self->warning), warning) == 0) return;
  gtk_label_set_text(self->warning, warning);
  gtk_info_bar_set_revealed(self->warning_bar, *warning != '\0');
}

static void
show_warning(TdTapeView *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  g_autofree char *warning = document ? td_document_dup_warning(document) : NULL;
  warn(self, warning ? warning : "");
}

static void
document_changed(TdTapeView *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  self->why_seq = UINT64_MAX - 1;
  show_warning(self);
  if (!document) return;
  list_processes(self, document);
  position_changed(self);
}

/* The first page answers for the whole tape. Of a node that somebody selects, the inspector tells.
 */
static void
selection_changed(TdTapeView *self) {
  const char *page = adw_view_stack_get_visible_child_name(self->side_stack);
  gboolean is_chosen = td_playhead_get_selection(self->playhead) != TD_NONE &&
                       !td_answers_pane_is_leading(self->answers);
  if (is_chosen && g_strcmp0(page, "answers") == 0)
    adw_view_stack_set_visible_child_name(self->side_stack, "inspector");
}

void
td_tape_view_set_playhead(TdTapeView *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  td_canvas_set_playhead(TD_CANVAS(self->graph), playhead);
  td_canvas_set_playhead(TD_CANVAS(self->queues), playhead);
  td_canvas_set_playhead(TD_CANVAS(self->timeline), playhead);
  td_subset_bar_set_playhead(self->subset_bar, playhead);
  td_inspector_set_playhead(self->inspector, playhead);
  td_events_pane_set_playhead(self->events, playhead);
  td_findings_pane_set_playhead(self->findings, playhead);
  td_answers_pane_set_playhead(self->answers, playhead);
  td_analysis_pane_set_playhead(self->analysis, playhead);
  td_segment_bar_set_playhead(self->segment_bar, playhead);
  td_transport_set_playhead(self->transport, playhead);
  td_live_bar_set_playhead(self->live, playhead);
  td_lesson_pane_set_playhead(self->lesson, playhead);
  self->way = td_shown_chain_new(playhead);
  self->bookmarks = td_bookmarks_new(playhead);
  td_timeline_canvas_set_bookmarks(self->timeline, self->bookmarks);
  self->brush = td_brush_new(playhead);
  td_timeline_canvas_set_brush(self->timeline, self->brush);
  td_events_pane_set_brush(self->events, self->brush);
  td_analysis_pane_set_brush(self->analysis, self->brush);
  td_graph_canvas_set_chain(self->graph, self->way);
  td_chain_bar_set_chain(self->chain_bar, self->way);
  td_findings_pane_set_chain(self->findings, self->way);
  self->stops = td_stop_list_new(playhead);
  self->run = td_stop_run_new(playhead, self->stops);
  td_graph_canvas_set_stops(self->graph, self->stops);
  td_transport_set_stops(self->transport, self->stops);
  td_live_bar_set_stops(self->live, self->stops);
  g_signal_connect_object(playhead, "notify::selection", G_CALLBACK(selection_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::travelling", G_CALLBACK(show_warning), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(position_changed), self,
                          G_CONNECT_SWAPPED);
}

void
td_tape_view_set_session(TdTapeView *self, TdLiveSession *session) {
  td_live_bar_set_session(self->live, session);
  td_stop_list_set_session(self->stops, session);
}

TdStopList *
td_tape_view_get_stops(TdTapeView *self) {
  return self->stops;
}

TdStopRun *
td_tape_view_get_run(TdTapeView *self) {
  return self->run;
}

void
td_tape_view_show_stops(TdTapeView *self) {
  td_transport_show_stops(self->transport);
}

TdShownChain *
td_tape_view_get_chain(TdTapeView *self) {
  return self->way;
}

TdBookmarks *
td_tape_view_get_bookmarks(TdTapeView *self) {
  return self->bookmarks;
}

TdBrush *
td_tape_view_get_brush(TdTapeView *self) {
  return self->brush;
}

void
td_tape_view_zoom(TdTapeView *self, double factor) {
  td_graph_canvas_zoom(self->graph, factor);
}

void
td_tape_view_fit(TdTapeView *self) {
  td_graph_canvas_fit(self->graph);
}

void
td_tape_view_set_overlay(TdTapeView *self, td_overlay_kind kind) {
  td_overlay_list_set(self->overlay, kind);
}

TdSubsetChoice *
td_tape_view_get_subset_choice(TdTapeView *self) {
  return td_graph_canvas_get_subset_choice(self->graph);
}

TdFoldChoice *
td_tape_view_get_fold_choice(TdTapeView *self) {
  return td_graph_canvas_get_fold_choice(self->graph);
}

gboolean
td_tape_view_is_busy(TdTapeView *self) {
  return td_overlay_choice_is_busy(td_graph_canvas_get_overlay_choice(self->graph)) ||
         td_subset_choice_is_busy(td_graph_canvas_get_subset_choice(self->graph)) ||
         td_fold_choice_is_busy(td_graph_canvas_get_fold_choice(self->graph)) ||
         td_stop_run_is_busy(self->run) || td_shown_chain_is_busy(self->way) ||
         td_analysis_pane_is_busy(self->analysis) || td_findings_pane_is_busy(self->findings) ||
         td_answers_pane_is_busy(self->answers);
}

void
td_tape_view_next_overlay(TdTapeView *self) {
  td_overlay_list_next(self->overlay);
}

void
td_tape_view_focus_graph(TdTapeView *self) {
  gtk_widget_grab_focus(GTK_WIDGET(self->graph));
}

void
td_tape_view_show_events_of_selection(TdTapeView *self) {
  td_tape_view_show_page(self, "events");
  td_events_pane_show_selected(self->events);
}

void
td_tape_view_find_event(TdTapeView *self) {
  td_tape_view_show_page(self, "events");
  td_events_pane_find(self->events);
}

static void
cover(TdTapeView *self, const td_question *question) {
  const td_answer_cover covered = {.graph = self->graph,
                                   .queues = GTK_WIDGET(self->queues_scroller),
                                   .queues_hidden = self->queues_hidden,
                                   .why = self->why_bin,
                                   .timeline = GTK_WIDGET(self->timeline),
                                   .timeline_hidden = self->timeline_hidden};
  td_answer_cover_put(&covered, question);
}

static void
hide_answer(TdTapeView *self, TdLessonWalk *walk) {
  const td_question *question = td_lesson_walk_get_question(walk);
  cover(self, td_lesson_walk_is_answered(walk) ? NULL : question);
}

static void
lay_out(TdTapeView *self, TdLayout layout) {
  gboolean is_wide = layout == TD_LAYOUT_PROFILE;
  td_panes_set_layout(&self->panes, layout);
  td_analysis_pane_set_wide(self->analysis, is_wide);
  adw_view_switcher_set_policy(self->switcher, is_wide ? ADW_VIEW_SWITCHER_POLICY_WIDE
                                                       : ADW_VIEW_SWITCHER_POLICY_NARROW);
}

void
td_tape_view_set_walk(TdTapeView *self, TdLessonWalk *walk) {
  gboolean had_walk = gtk_widget_get_visible(GTK_WIDGET(self->lesson));
  td_lesson_pane_set_walk(self->lesson, walk);
  cover(self, NULL);
  if (walk && !had_walk) self->layout_before = self->panes.layout;
  if (walk || had_walk) lay_out(self, walk ? TD_LAYOUT_TEACH : self->layout_before);
  if (!walk) return;
  g_signal_connect_object(walk, "changed", G_CALLBACK(hide_answer), self, G_CONNECT_SWAPPED);
  hide_answer(self, walk);
}

TdLessonPane *
td_tape_view_get_lesson(TdTapeView *self) {
  return self->lesson;
}

GListModel *
td_tape_view_get_answers(TdTapeView *self) {
  return td_answers_pane_get_items(self->answers);
}

TdAnalysisPane *
td_tape_view_get_analysis(TdTapeView *self) {
  return self->analysis;
}

gboolean
td_tape_view_show_page(TdTapeView *self, const char *name) {
  if (td_analysis_pane_show(self->analysis, name)) name = "analysis";
  if (!adw_view_stack_get_child_by_name(self->side_stack, name)) return FALSE;
  gtk_widget_set_visible(self->side, TRUE);
  adw_view_stack_set_visible_child_name(self->side_stack, name);
  return TRUE;
}

const char *
td_tape_view_get_page(TdTapeView *self) {
  const char *name = adw_view_stack_get_visible_child_name(self->side_stack);
  return strcmp(name, "analysis") == 0 ? td_analysis_pane_get_name(self->analysis) : name;
}

TdPanes *
td_tape_view_get_panes(TdTapeView *self) {
  return &self->panes;
}

void
td_tape_view_set_layout(TdTapeView *self, TdLayout layout) {
  lay_out(self, layout);
  if (layout == TD_LAYOUT_PROFILE) td_tape_view_show_page(self, "profile");
}

static gboolean
apply_when_sized(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  if (gtk_widget_get_width(GTK_WIDGET(TD_TAPE_VIEW(widget)->side_paned)) <= 0)
    return G_SOURCE_CONTINUE;
  td_panes_apply(&TD_TAPE_VIEW(widget)->panes);
  return G_SOURCE_REMOVE;
}

static void
mapped(GtkWidget *widget) {
  gtk_widget_add_tick_callback(widget, apply_when_sized, NULL, NULL);
}

static void
close_warning(GtkInfoBar *bar) {
  gtk_info_bar_set_revealed(bar, FALSE);
}

static void
td_tape_view_dispose(GObject *object) {
  g_clear_object(&TD_TAPE_VIEW(object)->way);
  g_clear_object(&TD_TAPE_VIEW(object)->run);
  g_clear_object(&TD_TAPE_VIEW(object)->stops);
  g_clear_object(&TD_TAPE_VIEW(object)->brush);
  g_clear_object(&TD_TAPE_VIEW(object)->bookmarks);
  g_clear_object(&TD_TAPE_VIEW(object)->playhead);
  G_OBJECT_CLASS(td_tape_view_parent_class)->dispose(object);
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdTapeView, child)

static void
td_tape_view_class_init(TdTapeViewClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_tape_view_dispose;
  g_type_ensure(TD_TYPE_GRAPH_CANVAS);
  g_type_ensure(TD_TYPE_QUEUES_CANVAS);
  g_type_ensure(TD_TYPE_TIMELINE_CANVAS);
  g_type_ensure(TD_TYPE_FOLD_BAR);
  g_type_ensure(TD_TYPE_LESSON_PANE);
  g_type_ensure(TD_TYPE_SUBSET_BAR);
  g_type_ensure(TD_TYPE_MINIMAP);
  g_type_ensure(TD_TYPE_INSPECTOR);
  g_type_ensure(TD_TYPE_LIVE_BAR);
  g_type_ensure(TD_TYPE_EVENTS_PANE);
  g_type_ensure(TD_TYPE_FINDINGS_PANE);
  g_type_ensure(TD_TYPE_ANSWERS_PANE);
  g_type_ensure(TD_TYPE_ANALYSIS_PANE);
  g_type_ensure(TD_TYPE_SEGMENT_BAR);
  g_type_ensure(TD_TYPE_TRANSPORT);
  g_type_ensure(TD_TYPE_CHAIN_BAR);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/tape_view.ui");
  BIND(live);
  BIND(node_menu);
  BIND(warning_bar);
  BIND(warning);
  BIND(side_paned);
  BIND(lower_paned);
  BIND(queues_paned);
  BIND(graph);
  BIND(fold_bar);
  BIND(lesson);
  BIND(subset_bar);
  BIND(minimap);
  BIND(pass_box);
  BIND(pass);
  BIND(pass_in_short);
  BIND(process);
  BIND(overlay);
  BIND(why);
  BIND(why_bin);
  BIND(queues_hidden);
  BIND(timeline_hidden);
  BIND(queues_pane);
  BIND(queues_scroller);
  BIND(queues);
  BIND(timeline);
  BIND(side);
  BIND(switcher);
  BIND(stack_bin);
  BIND(side_stack);
  BIND(inspector);
  BIND(events);
  BIND(findings);
  BIND(answers);
  BIND(analysis);
  BIND(segment_bar);
  BIND(transport);
  BIND(chain_bar);
}

static void
td_tape_view_init(TdTapeView *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  self->why_seq = UINT64_MAX - 1;
  self->panes = (TdPanes){.outer = self->side_paned,
                          .inner = self->lower_paned,
                          .lowest = self->queues_paned,
                          .pane = {[TD_PANE_SIDE] = self->side,
                                   [TD_PANE_QUEUES] = self->queues_pane,
                                   [TD_PANE_TIMELINE] = GTK_WIDGET(self->timeline),
                                   [TD_PANE_MINIMAP] = GTK_WIDGET(self->minimap)},
                          .queues = self->queues,
                          .timeline = GTK_WIDGET(self->timeline)};
  td_panes_init(&self->panes);
  td_overlay_list_fill(self->overlay, td_graph_canvas_get_overlay_choice(self->graph));
  td_minimap_set_canvas(self->minimap, self->graph);
  td_fold_bar_set_choices(self->fold_bar, td_graph_canvas_get_fold_choice(self->graph),
                          td_graph_canvas_get_subset_choice(self->graph));
  td_inspector_set_folds(self->inspector, td_graph_canvas_get_fold_choice(self->graph));
  td_subset_bar_set_choice(self->subset_bar, td_graph_canvas_get_subset_choice(self->graph));
  td_wrapped_init(self->why_bin);
  td_wrapped_init(self->stack_bin);
  g_signal_connect_swapped(gtk_scrolled_window_get_vadjustment(self->queues_scroller), "changed",
                           G_CALLBACK(show_queue), self);
  g_signal_connect_swapped(self->graph, "node-clicked", G_CALLBACK(td_lesson_pane_choose_node),
                           self->lesson);
  g_signal_connect_swapped(self->process, "notify::selected", G_CALLBACK(process_chosen), self);
  g_signal_connect(self->warning_bar, "response", G_CALLBACK(close_warning), NULL);
  td_canvas_set_menu(TD_CANVAS(self->graph), self->node_menu);
  td_canvas_set_menu(TD_CANVAS(self->queues), self->node_menu);
  td_canvas_set_menu(TD_CANVAS(self->timeline), self->node_menu);
  g_signal_connect(self, "map", G_CALLBACK(mapped), NULL);
}
