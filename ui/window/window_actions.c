/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_actions.h"

#include "ui/model/analysis/analysis_wish.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/playhead/playhead_steps.h"
#include "ui/window/about.h"
#include "ui/window/window_attach.h"
#include "ui/window/window_choose.h"
#include "ui/window/window_compare.h"
#include "ui/window/window_graph.h"
#include "ui/window/window_help.h"
#include "ui/window/window_keys.h"
#include "ui/window/window_lesson.h"
#include "ui/window/window_link.h"
#include "ui/window/window_palette.h"
#include "ui/window/window_picture.h"
#include "ui/window/window_predict.h"
#include "ui/window/window_record.h"
#include "ui/window/window_schedulers.h"
#include "ui/window/window_shortcuts.h"
#include "ui/window/window_stops.h"
#include "ui/window/window_ways.h"

#include <glib/gi18n.h>

#define ZOOM_STEP 1.25

typedef enum Section {
  SECTION_MOVE,
  SECTION_LIVE,
  SECTION_GRAPH,
  SECTION_PANES,
  SECTION_WINDOW,
  N_SECTIONS
} Section;

/* The condition under which an action is possible. */
typedef enum Need {
  NEED_NOTHING,
  NEED_TAPE,
  NEED_PROGRAM, /* that has not ended and can be stopped */
  NEED_STOPPED, /* a program at its gate */
  NEED_RUNNING, /* a program that is not */
} Need;

static const char *const section_titles[N_SECTIONS] = {
    [SECTION_MOVE] = N_("Move on the Tape"), [SECTION_LIVE] = N_("The Program, while It Runs"),
    [SECTION_GRAPH] = N_("Graph"),           [SECTION_PANES] = N_("Panes"),
    [SECTION_WINDOW] = N_("General"),
};

static void
play(TdWindow *window) {
  TdPlayhead *playhead = td_window_get_playhead(window);
  td_playhead_set_playing(playhead, !td_playhead_get_playing(playhead));
}

/* Stepping by hand stops playing. */
static TdPlayhead *
stopped(TdWindow *window) {
  TdPlayhead *playhead = td_window_get_playhead(window);
  td_playhead_set_playing(playhead, FALSE);
  return playhead;
}

static gboolean
has_state(TdWindow *window, TdLiveState state) {
  TdLiveSession *live = td_window_get_live(window);
  return live && td_live_session_get_state(live) == state;
}

/* At the end of the recording, a step lets the stopped program go on. */
static gboolean
step_program(TdWindow *window) {
  if (!has_state(window, TD_LIVE_STOPPED) || !td_playhead_is_at_end(stopped(window))) return FALSE;
  td_live_session_step(td_window_get_live(window), TD_NONE);
  return TRUE;
}

#define TD_STEP(function, name, title, keys, is_live, step)                                        \
  static void function(TdWindow *window) {                                                         \
    if (is_live && step_program(window)) return;                                                   \
    TdPlayhead *playhead = stopped(window);                                                        \
    step;                                                                                          \
  }
#include "ui/window/steps.def"
#undef TD_STEP

static void
run_to_problem(TdWindow *window) {
  td_playhead_run_to_problem(stopped(window));
}

static void
live_pause(TdWindow *window) {
  td_live_session_pause(td_window_get_live(window));
}

static void
live_detach(TdWindow *window) {
  td_live_session_detach(td_window_get_live(window));
}

static void
zoom_in(TdWindow *window) {
  td_tape_view_zoom(td_window_get_tape_view(window), ZOOM_STEP);
}

static void
zoom_out(TdWindow *window) {
  td_tape_view_zoom(td_window_get_tape_view(window), 1 / ZOOM_STEP);
}

static void
zoom_fit(TdWindow *window) {
  td_tape_view_fit(td_window_get_tape_view(window));
}

static void
next_overlay(TdWindow *window) {
  td_tape_view_next_overlay(td_window_get_tape_view(window));
}

static void
whole_timeline(TdWindow *window) {
  td_playhead_reset_span(td_window_get_playhead(window));
}

static void
pass_timeline(TdWindow *window) {
  td_playhead_show_pass(td_window_get_playhead(window));
}

static void
training_step(TdWindow *window) {
  td_playhead_step_training(td_window_get_playhead(window), 1);
}

static void
training_back(TdWindow *window) {
  td_playhead_step_training(td_window_get_playhead(window), -1);
}

static void
layout_debug(TdWindow *window) {
  td_tape_view_set_layout(td_window_get_tape_view(window), TD_LAYOUT_DEBUG);
}

static void
layout_profile(TdWindow *window) {
  td_tape_view_set_layout(td_window_get_tape_view(window), TD_LAYOUT_PROFILE);
}

static void
layout_teach(TdWindow *window) {
  td_tape_view_set_layout(td_window_get_tape_view(window), TD_LAYOUT_TEACH);
}

static void
show_answers(TdWindow *window) {
  td_tape_view_show_page(td_window_get_tape_view(window), "answers");
}

static void
show_inspector(TdWindow *window) {
  td_tape_view_show_page(td_window_get_tape_view(window), "inspector");
}

static void
show_events(TdWindow *window) {
  td_tape_view_show_page(td_window_get_tape_view(window), "events");
}

static void
find_event(TdWindow *window) {
  td_tape_view_find_event(td_window_get_tape_view(window));
}

static void
show_findings(TdWindow *window) {
  td_tape_view_show_page(td_window_get_tape_view(window), "findings");
}

#define X(name, title)                                                                             \
  static void show_##name(TdWindow *window) {                                                      \
    td_tape_view_show_page(td_window_get_tape_view(window), #name);                                \
  }
TD_ANALYSES(X)
#undef X

static void
visit_back(TdWindow *window) {
  td_window_visit(window, -1);
}

static void
visit_forward(TdWindow *window) {
  td_window_visit(window, 1);
}

static void
go_to_bookmark(TdWindow *window, int direction) {
  if (!td_bookmarks_go(td_tape_view_get_bookmarks(td_window_get_tape_view(window)), direction))
    td_window_say(window, direction < 0 ? _("There is no bookmark before this event")
                                        : _("There is no bookmark after this event"));
}

static void
bookmark_next(TdWindow *window) {
  go_to_bookmark(window, 1);
}

static void
bookmark_back(TdWindow *window) {
  go_to_bookmark(window, -1);
}

/* Each step is a place to go back to. */
static void
step_chain(TdWindow *window) {
  td_window_keep_visit(window);
  td_shown_chain_step(td_tape_view_get_chain(td_window_get_tape_view(window)));
}

static void
node_begin(TdWindow *window) {
  td_playhead_go_to_node(td_window_get_playhead(window), TD_EVENT_node_begin);
}

static void
node_end(TdWindow *window) {
  td_playhead_go_to_node(td_window_get_playhead(window), TD_EVENT_node_end);
}

static void
node_events(TdWindow *window) {
  td_tape_view_show_events_of_selection(td_window_get_tape_view(window));
}

/* What the inspector says above its facts. */
static void
node_copy(TdWindow *window) {
  TdPlayhead *playhead = td_window_get_playhead(window);
  uint32_t node = td_playhead_get_selection(playhead);
  if (node == TD_NONE) return;
  TdDocument *document = td_playhead_get_document(playhead);
  g_autofree char *name = td_document_dup_node_words(document, node);
  g_autofree char *why = td_document_dup_wait_text(document, node);
  g_autofree char *text = why ? g_strdup_printf("%s\n%s", name, why) : g_strdup(name);
  gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(window)), text);
  td_window_say(window, _("Copied"));
}

static void
save_picture(TdWindow *window) {
  td_window_save_picture(GTK_WINDOW(window));
}

static void
help(TdWindow *window) {
  td_help_show(GTK_WINDOW(window));
}

static void
about(TdWindow *window) {
  td_about_show(GTK_WINDOW(window));
}

static void
close_window(TdWindow *window) {
  gtk_window_close(GTK_WINDOW(window));
}

static void show_shortcuts(TdWindow *window);
static void open_palette(TdWindow *window);

/* An action without `activate` is a property's, or add_stateful makes it. */
static const struct {
  const char *name, *title;
  const char *keys; /* accelerators, separated by spaces */
  Section section;
  Need need;
  void (*activate)(TdWindow *window);
} actions[] = {
    {"play", N_("Play or pause"), "space", SECTION_MOVE, NEED_TAPE, play},
#define TD_STEP(function, name, title, keys, is_live, step)                                        \
  {name, title, keys, SECTION_MOVE, NEED_TAPE, function},
#include "ui/window/steps.def"
#undef TD_STEP
    {"run-to-problem", N_("Run to the next NaN, Inf or error"), "n", SECTION_MOVE, NEED_TAPE,
     run_to_problem},
    {"stop-next", N_("Run to the next stop; at the end of the tape, let the program run to it"),
     "F5", SECTION_MOVE, NEED_TAPE, td_window_run_to_stop},
    {"stop-back", N_("Back to the stop before"), "<Shift>F5", SECTION_MOVE, NEED_TAPE,
     td_window_back_to_stop},
    {"stop-here", N_("Set or clear a stop at the selected node"), "b", SECTION_MOVE, NEED_TAPE,
     td_window_stop_here},
    {"stops", N_("Show the list of stops"), "<Shift>b", SECTION_MOVE, NEED_TAPE,
     td_window_show_stops},
    {"training-step", N_("Next training step"), "braceright", SECTION_MOVE, NEED_TAPE,
     training_step},
    {"training-back", N_("Previous training step"), "braceleft", SECTION_MOVE, NEED_TAPE,
     training_back},
    {"visit-back", N_("Back to where you were before"), "<Alt>Left", SECTION_MOVE, NEED_TAPE,
     visit_back},
    {"visit-forward", N_("Forward again"), "<Alt>Right", SECTION_MOVE, NEED_TAPE, visit_forward},
    {"bookmark", N_("Bookmark this event"), "<Control>b", SECTION_MOVE, NEED_TAPE,
     td_window_bookmark},
    {"bookmark-next", N_("Next bookmark"), "<Alt>Down", SECTION_MOVE, NEED_TAPE, bookmark_next},
    {"bookmark-back", N_("Previous bookmark"), "<Alt>Up", SECTION_MOVE, NEED_TAPE, bookmark_back},
    {"chain", N_("Where did this come from? Go back to its cause, step by step"), "w", SECTION_MOVE,
     NEED_TAPE, step_chain},
    {"lesson-next", N_("Answer the question of the lesson, or go to its next step"),
     "<Control>Return", SECTION_MOVE, NEED_TAPE, td_window_go_on},
    {"lesson-edit", N_("Change the script of the lesson"), NULL, SECTION_MOVE, NEED_TAPE,
     td_window_edit_lesson},
    {"lesson-again", N_("Run the script of the lesson again"), "<Control>e", SECTION_MOVE,
     NEED_TAPE, td_window_repeat_lesson},
    {"lesson-original", N_("Back to the lesson's own script"), NULL, SECTION_MOVE, NEED_TAPE,
     td_window_restore_lesson},
    {"lecture", N_("Lecture: large texts, and a red dot as pointer"), "<Control><Shift>l",
     SECTION_MOVE, NEED_NOTHING, td_window_toggle_lecture},
    {"follow", N_("Selection follows the playhead"), "l", SECTION_MOVE, NEED_TAPE, NULL},
    {"live-step",
     N_("Step to the next event; at the end of the tape, run the program to its next stop"), "F8",
     SECTION_LIVE, NEED_PROGRAM, event_step},
    {"live-continue", N_("Let the program run to its next stop"), NULL, SECTION_LIVE, NEED_STOPPED,
     td_window_continue},
    {"live-pause", N_("Stop the program at its next node"), "F6", SECTION_LIVE, NEED_RUNNING,
     live_pause},
    {"run-next", N_("Have the selected ready task popped next"), "r", SECTION_LIVE, NEED_STOPPED,
     td_window_run_next},
    {"live-detach", N_("Let go: the program runs on and stops nowhere"), "<Control>d", SECTION_LIVE,
     NEED_PROGRAM, live_detach},
    {"palette", N_("Do or find anything: actions, nodes, modules, events, lines, answers"),
     "<Control>p", SECTION_WINDOW, NEED_NOTHING, open_palette},
    {"find", N_("Find a node"), "<Control>f", SECTION_GRAPH, NEED_TAPE, td_window_find},
    {"find-event", N_("Find an event by words"), "<Control><Shift>f", SECTION_GRAPH, NEED_TAPE,
     find_event},
    {"zoom-in", N_("Zoom in"), "plus equal KP_Add <Control>plus", SECTION_GRAPH, NEED_TAPE,
     zoom_in},
    {"zoom-out", N_("Zoom out"), "minus KP_Subtract <Control>minus", SECTION_GRAPH, NEED_TAPE,
     zoom_out},
    {"zoom-fit", N_("Show the whole graph"), "f 0 <Control>0", SECTION_GRAPH, NEED_TAPE, zoom_fit},
    {"next-overlay", N_("Colour the nodes by another figure"), "o", SECTION_GRAPH, NEED_TAPE,
     next_overlay},
    {"whole-timeline", N_("Show the whole timeline"), "t", SECTION_GRAPH, NEED_TAPE,
     whole_timeline},
    {"pass-timeline", N_("Show this backward pass in the timeline"), "p", SECTION_GRAPH, NEED_TAPE,
     pass_timeline},
    {"node-begin", N_("Go to where the selected node begins"), "comma", SECTION_GRAPH, NEED_TAPE,
     node_begin},
    {"node-end", N_("Go to where the selected node ends"), "period", SECTION_GRAPH, NEED_TAPE,
     node_end},
    {"node-events", N_("Show the events of the selected node"), "e", SECTION_GRAPH, NEED_TAPE,
     node_events},
    {"node-copy", N_("Copy the selected node's name and what it waits for"), "c", SECTION_GRAPH,
     NEED_TAPE, node_copy},
    {"node-neighbours", N_("Show only the neighbours of the selected node"), "g", SECTION_GRAPH,
     NEED_TAPE, td_window_show_neighbours},
    {"neighbours-more", N_("Neighbours one edge further"), "greater", SECTION_GRAPH, NEED_TAPE,
     td_window_widen},
    {"neighbours-fewer", N_("Neighbours one edge nearer"), "less", SECTION_GRAPH, NEED_TAPE,
     td_window_narrow},
    {"node-path", N_("Show only the paths from the selected node; again: to the selected node"),
     "<Shift>g", SECTION_GRAPH, NEED_TAPE, td_window_show_path},
    {"whole-graph", N_("Back to the whole graph"), "<Shift>w", SECTION_GRAPH, NEED_TAPE,
     td_window_show_whole_graph},
    {"open-block", N_("Open the block of the selected node"), "u", SECTION_GRAPH, NEED_TAPE,
     td_window_open_block},
    {"fold-module", N_("Fold the module of the selected node; again: the module around it"),
     "<Shift>u", SECTION_GRAPH, NEED_TAPE, td_window_fold_module},
    {"open-all", N_("Open all blocks of the graph"), "<Control>u", SECTION_GRAPH, NEED_TAPE,
     td_window_open_all},
    {"fold-all", N_("Fold all modules of the graph"), "<Control><Shift>u", SECTION_GRAPH, NEED_TAPE,
     td_window_fold_all},
    {"unselect", N_("Back to all times and the whole graph; then select nothing"), "Escape",
     SECTION_GRAPH, NEED_TAPE, td_window_unselect},
    {"answers", N_("Show the answers"), "<Alt>0", SECTION_PANES, NEED_TAPE, show_answers},
    {"inspector", N_("Show the inspector"), "<Alt>1", SECTION_PANES, NEED_TAPE, show_inspector},
    {"events", N_("Show the events"), "<Alt>2", SECTION_PANES, NEED_TAPE, show_events},
    {"findings", N_("Show the findings"), "<Alt>3", SECTION_PANES, NEED_TAPE, show_findings},
    {"profile", N_("Show the profile"), "<Alt>4", SECTION_PANES, NEED_TAPE, show_profile},
    {"waiting", N_("Show what nodes wait for"), "<Alt>5", SECTION_PANES, NEED_TAPE, show_waiting},
    {"contention", N_("Show contention"), "<Alt>6", SECTION_PANES, NEED_TAPE, show_contention},
    {"critical", N_("Show the critical path"), "<Alt>7", SECTION_PANES, NEED_TAPE, show_critical},
    {"whatif", N_("Show how long other schedules would take"), "<Alt>8", SECTION_PANES, NEED_TAPE,
     show_whatif},
    {"memory", N_("Show who holds memory"), "<Alt>9", SECTION_PANES, NEED_TAPE, show_memory},
    {"layout-debug", N_("Layout to look for a mistake: graph and side pane"), "<Control>1",
     SECTION_PANES, NEED_TAPE, layout_debug},
    {"layout-profile", N_("Layout to profile: a large timeline, tables of full width"),
     "<Control>2", SECTION_PANES, NEED_TAPE, layout_profile},
    {"layout-teach", N_("Layout to teach: graph and queues large, no side pane"), "<Control>3",
     SECTION_PANES, NEED_TAPE, layout_teach},
    {"side-pane", N_("Show or hide the side pane"), "F9", SECTION_PANES, NEED_TAPE, NULL},
    {"queues-pane", N_("Show or hide the queues"), "<Shift>F9", SECTION_PANES, NEED_TAPE, NULL},
    {"timeline-pane", N_("Show or hide the timeline"), "<Control>F9", SECTION_PANES, NEED_TAPE,
     NULL},
    {"minimap", N_("Show or hide the minimap"), "m", SECTION_PANES, NEED_TAPE, NULL},
    {"copy-link", N_("Copy a command that opens what you see"), "<Control>l", SECTION_PANES,
     NEED_TAPE, td_window_copy_link},
    {"save-picture", N_("Save the picture that has the focus, or the graph"), "<Control>s",
     SECTION_PANES, NEED_TAPE, save_picture},
    {"open", N_("Open a tape"), "<Control>o", SECTION_WINDOW, NEED_NOTHING, td_window_choose_file},
    {"compare-tape", N_("Compare this tape with another one"), "<Control>k", SECTION_WINDOW,
     NEED_TAPE, td_window_compare_tape},
    {"compare-passes", N_("Compare two backward passes of this tape"), "<Control><Shift>k",
     SECTION_WINDOW, NEED_TAPE, td_window_compare_passes},
    {"whatif-beside", N_("Show what the selected policy would do beside this tape"), NULL,
     SECTION_WINDOW, NEED_TAPE, td_window_predict},
    {"quiz", N_("Begin a quiz on this tape"), "q", SECTION_WINDOW, NEED_TAPE, td_window_take_quiz},
    {"schedulers", N_("See the scheduler of 2017 beside today's"), NULL, SECTION_WINDOW,
     NEED_NOTHING, td_window_compare_schedulers},
    {"record", N_("Record a program"), "<Control>r", SECTION_WINDOW, NEED_NOTHING,
     td_window_ask_program},
    {"record-again", N_("Record this program again, and look for NaN and Inf"), NULL,
     SECTION_WINDOW, NEED_TAPE, td_window_ask_again},
    {"attach", N_("Attach to a program that is being recorded"), "<Control><Shift>r",
     SECTION_WINDOW, NEED_NOTHING, td_window_ask_running},
    {"start-page", N_("Go to the start page"), "<Alt>Home", SECTION_WINDOW, NEED_NOTHING,
     td_window_show_start},
    {"cancel", N_("Cancel what is in progress"), NULL, SECTION_WINDOW, NEED_NOTHING,
     td_window_cancel},
    {"preferences", N_("Preferences"), "<Control>comma", SECTION_WINDOW, NEED_NOTHING,
     td_window_show_preferences},
    {"help", N_("Help"), "F1", SECTION_WINDOW, NEED_NOTHING, help},
    {"shortcuts", N_("Keyboard shortcuts"), "<Control>question", SECTION_WINDOW, NEED_NOTHING,
     show_shortcuts},
    {"about", N_("About Tapedeck"), NULL, SECTION_WINDOW, NEED_NOTHING, about},
    {"close", N_("Close the window"), "<Control>w <Control>q", SECTION_WINDOW, NEED_NOTHING,
     close_window},
};

static void
activated(GSimpleAction *action, GVariant *parameter, gpointer data) {
  const char *name = g_action_get_name(G_ACTION(action));
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++)
    if (strcmp(actions[i].name, name) == 0) actions[i].activate(data);
}

static void
add_keys(TdWindow *window) {
  TdWindowKeys keys = td_window_keys_new(GTK_WIDGET(window));
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++)
    if (actions[i].keys)
      td_window_keys_add(&keys, actions[i].name, actions[i].keys,
                         actions[i].section == SECTION_MOVE);
}

static void
name_button(GtkWidget *widget, const char *detailed) {
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++) {
    if (!g_str_has_prefix(detailed, "win.") || strcmp(actions[i].name, detailed + 4) != 0) continue;
    td_window_keys_name_button(widget, _(actions[i].title), actions[i].keys);
  }
}

static void
name_buttons(GtkWidget *widget) {
  const char *detailed =
      GTK_IS_ACTIONABLE(widget) ? gtk_actionable_get_action_name(GTK_ACTIONABLE(widget)) : NULL;
  if (detailed) name_button(widget, detailed);
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
       child = gtk_widget_get_next_sibling(child))
    name_buttons(child);
}

static void
pane_wanted(GSimpleAction *action, GVariant *state, gpointer pane) {
  gtk_widget_set_visible(pane, g_variant_get_boolean(state));
}

static void
pane_changed(GtkWidget *pane, GParamSpec *property, gpointer action) {
  g_simple_action_set_state(action, g_variant_new_boolean(gtk_widget_get_visible(pane)));
}

/* Not g_property_action_new: without a tape there is no pane, and then the action is off. */
static void
add_pane(TdWindow *window, TdPane pane) {
  GtkWidget *widget = td_tape_view_get_panes(td_window_get_tape_view(window))->pane[pane];
  g_autoptr(GSimpleAction) action = g_simple_action_new_stateful(
      td_pane_name(pane), NULL, g_variant_new_boolean(gtk_widget_get_visible(widget)));
  g_signal_connect(action, "change-state", G_CALLBACK(pane_wanted), widget);
  g_signal_connect_object(widget, "notify::visible", G_CALLBACK(pane_changed), action, 0);
  g_action_map_add_action(G_ACTION_MAP(window), G_ACTION(action));
}

static void
add_stateful(TdWindow *window) {
  g_autoptr(GPropertyAction) follow =
      g_property_action_new("follow", td_window_get_playhead(window), "follow");
  g_action_map_add_action(G_ACTION_MAP(window), G_ACTION(follow));
  for (TdPane pane = 0; pane < TD_N_PANES; pane++)
    add_pane(window, pane);
}

static gboolean
is_met(TdWindow *window, Need need) {
  gboolean tape = td_playhead_get_document(td_window_get_playhead(window)) != NULL;
  gboolean program = td_window_get_live(window) && !has_state(window, TD_LIVE_ENDED) &&
                     !has_state(window, TD_LIVE_WATCHED);
  gboolean stopped = has_state(window, TD_LIVE_STOPPED);
  const gboolean met[] = {[NEED_NOTHING] = TRUE,
                          [NEED_TAPE] = tape,
                          [NEED_PROGRAM] = tape && program,
                          [NEED_STOPPED] = tape && stopped,
                          [NEED_RUNNING] = tape && program && !stopped};
  return met[need];
}

static void
update(TdWindow *window) {
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++) {
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(window), actions[i].name);
    if (G_IS_SIMPLE_ACTION(action))
      g_simple_action_set_enabled(G_SIMPLE_ACTION(action), is_met(window, actions[i].need));
  }
}

static void
open_palette(TdWindow *window) {
  td_window_palette_clear(window);
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++)
    if (actions[i].activate != open_palette && is_met(window, actions[i].need))
      td_window_palette_offer(window, actions[i].name, _(actions[i].title), actions[i].keys);
  td_window_palette_open(window);
}

void
td_window_actions_install(TdWindow *window) {
  td_window_ways_add(window);
  td_window_lessons_install(window);
  td_window_palette_add(window);
  add_stateful(window);
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++) {
    if (!actions[i].activate) continue;
    g_autoptr(GSimpleAction) action = g_simple_action_new(actions[i].name, NULL);
    g_signal_connect(action, "activate", G_CALLBACK(activated), window);
    g_action_map_add_action(G_ACTION_MAP(window), G_ACTION(action));
  }
  add_keys(window);
  td_window_pictures_install(GTK_WINDOW(window));
  name_buttons(GTK_WIDGET(window));
  g_signal_connect(window, "changed", G_CALLBACK(update), NULL);
  update(window);
}

static void
show_shortcuts(TdWindow *window) {
  TdShortcuts *shortcuts = td_shortcuts_new();
  for (guint section = 0; section < N_SECTIONS; section++) {
    td_shortcuts_add_section(shortcuts, section_titles[section]);
    td_shortcuts_add_group(shortcuts, section_titles[section]);
    for (guint i = 0; i < G_N_ELEMENTS(actions); i++)
      if (actions[i].section == section && actions[i].keys)
        td_shortcuts_add(shortcuts, actions[i].title, actions[i].keys);
  }
  td_shortcuts_add_widgets(shortcuts);
  td_shortcuts_show(shortcuts, GTK_WINDOW(window));
}
