/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_help.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#define HELP "help"
#define WIDTH 620
#define HEIGHT 640

/* A topic is a title and a few paragraphs. */
static const struct {
  const char *title, *text;
} topics[] = {
    {N_("What You See"),
     N_("A tape records a backward pass event by event. The window shows the state after one "
        "event. The playhead marks that event.\n\n"
        "The graph has a card for each function, and gradients flow down along its edges. The "
        "colour and the sign of a card say what the function does: it waits, stands in a queue, "
        "runs or is done. A number such as 1/3 says how many of its gradients have come. The "
        "ready queues are below; their tasks stand in the order in which threads will take them. "
        "The timeline has a lane "
        "for each thread, device and queue.\n\n"
        "A click on a function selects it everywhere. The inspector shows its facts, and why it "
        "waits.\n\n"
        "Ctrl+S saves the picture that has the focus, or the graph, as PNG, SVG or PDF. The menu "
        "of each picture has that too, and copies the picture.")},
    {N_("Answers"),
     N_("A tape opens on its answers: what is wrong, where the time goes, who waits, what holds "
        "memory, and what was not looked for. A click on one goes to its event and node. The "
        "button of a topic leads to the page that has more. Alt+0 goes back to the answers.")},
    {N_("Layouts"),
     N_("Ctrl+1 is the layout to look for a mistake: the graph, and the side pane on the right. "
        "Ctrl+2 is for profiling: a large timeline, and tables of full width below it. Ctrl+3 is "
        "for teaching: graph and queues large, no side pane. Each keeps its sizes. Ctrl+L "
        "copies a command that opens what you see.")},
    {N_("Stepping"),
     N_("Right and Left step one event forward or back; with Shift, one function. The space bar "
        "plays. "
        "Home and End go to the ends of the tape. A drag in the timeline goes to a time.\n\n"
        "Alt with Left goes back to where you were before. Ctrl+B keeps a place for later. Ctrl+F "
        "finds a function by its name, number or module. Ctrl+P finds anything: actions with their "
        "keys, answers, modules, lines, functions and events. Enter does it, or goes there.")},
    {N_("Finding a NaN"),
     N_("Press N: the playhead runs to the next NaN, Inf or error. The inspector says where it "
        "was born: in the output of a function, in a sum, or in the forward pass. Then press W, "
        "again and again. Each press goes one step back to its cause.\n\n"
        "The page Findings lists mistakes with advice. A recording looks for NaN only with "
        "--anomaly nonfinite, or with a switch of the dialog that Ctrl+R opens.")},
    {N_("Why Is It Slow?"),
     N_("Press O to colour the functions by time, bytes or the critical path. The page Analysis "
        "has tables: the profile, who waits for whom, which lock was contended, the critical path "
        "and who holds memory. What-If says how long other schedules would take.\n\n"
        "Shift and a drag in the timeline limit the list of events and the tables to that time. "
        "Escape shows all times again.")},
    {N_("Stops"),
     N_("Press B to stop at the selected function. F5 runs to the next stop, Shift+F5 back to the "
        "one before. Shift+B lists the stops; there you add conditions, such as a gradient that "
        "is too large.")},
    {N_("A Program While It Runs"),
     N_("Record a program with Ctrl+R and switch Live on, or run “tapedeck record --live”. "
        "The program waits at your stops. F8 lets it go one step, F6 stops it at its next "
        "function, Ctrl+D lets it run to its end. The window shows what the program has done so "
        "far, as on any tape.\n\n"
        "Ctrl+Shift+R lists the programs that are being recorded now, and attaches the window to "
        "one of them. A program that was recorded without --live can be watched, not stopped.\n\n"
        "On Tapedeck's own engine, R has the selected ready task run next. “tapedeck run "
        "--schedule” makes the choices of a tape again.")},
    {N_("Two Tapes beside Each Other"),
     N_("Ctrl+K shows another tape beside this one, Ctrl+Shift+K two backward passes of it. You "
        "move one side, and the other follows. There, D goes to where their order first differs, "
        "and S moves the other side instead.\n\n"
        "The page Analysis has a table What-if: how long other schedules would take. A button "
        "there "
        "shows what the selected policy would do beside this tape.")},
    {N_("Without a Pointer, and with a Screen Reader"),
     N_("Tab goes from pane to pane. In the graph, Down follows a gradient to the next function "
        "and Up goes back; Ctrl with Left or Right stays in the layer. In the queues and the "
        "timeline, Up and Down read the tasks and lanes. A screen reader finds a tree in each of "
        "these panes, and hears the state of the function that has the focus.\n\n"
        "The Preferences have larger text, and a switch against motion.")},
};

static GtkWidget *
make_label(const char *text, const char *style) {
  GtkWidget *label = gtk_label_new(text);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_selectable(GTK_LABEL(label), !style);
  if (style) gtk_widget_add_css_class(label, style);
  return label;
}

static GtkWidget *
make_page(void) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 9), *clamp = adw_clamp_new();
  GtkWidget *scroller = gtk_scrolled_window_new();
  for (guint i = 0; i < G_N_ELEMENTS(topics); i++) {
    GtkWidget *title = make_label(_(topics[i].title), "title-3");
    if (i) gtk_widget_set_margin_top(title, 15);
    gtk_box_append(GTK_BOX(box), title);
    gtk_box_append(GTK_BOX(box), make_label(_(topics[i].text), NULL));
  }
  gtk_widget_set_margin_top(box, 18);
  gtk_widget_set_margin_bottom(box, 24);
  gtk_widget_set_margin_start(box, 18);
  gtk_widget_set_margin_end(box, 18);
  adw_clamp_set_child(ADW_CLAMP(clamp), box);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), clamp);
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER,
                                 GTK_POLICY_AUTOMATIC);
  gtk_widget_set_vexpand(scroller, TRUE);
  return scroller;
}

static GtkWidget *
make_header(void) {
  GtkWidget *header = adw_header_bar_new(),
            *shortcuts = gtk_button_new_with_label(_("Keyboard Shortcuts"));
  gtk_actionable_set_action_name(GTK_ACTIONABLE(shortcuts), "win.shortcuts");
  adw_header_bar_pack_start(ADW_HEADER_BAR(header), shortcuts);
  return header;
}

static void
close_on_escape(GtkWidget *help) {
  GtkEventController *controller = gtk_shortcut_controller_new();
  gtk_shortcut_controller_add_shortcut(
      GTK_SHORTCUT_CONTROLLER(controller),
      gtk_shortcut_new(gtk_shortcut_trigger_parse_string("Escape|<Control>w"),
                       gtk_named_action_new("window.close")));
  gtk_widget_add_controller(help, controller);
}

static GtkWidget *
make_help(GtkWindow *window) {
  GtkWidget *help = adw_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  gtk_window_set_title(GTK_WINDOW(help), _("Help"));
  gtk_window_set_default_size(GTK_WINDOW(help), WIDTH, HEIGHT);
  gtk_window_set_transient_for(GTK_WINDOW(help), window);
  gtk_window_set_destroy_with_parent(GTK_WINDOW(help), TRUE);
  gtk_widget_insert_action_group(help, "win", G_ACTION_GROUP(window));
  gtk_box_append(GTK_BOX(box), make_header());
  gtk_box_append(GTK_BOX(box), make_page());
  adw_window_set_content(ADW_WINDOW(help), box);
  close_on_escape(help);
  return help;
}

void
td_help_show(GtkWindow *window) {
  GtkWidget *help = g_object_get_data(G_OBJECT(window), HELP);
  if (!help) {
    help = make_help(window);
    gtk_window_set_hide_on_close(GTK_WINDOW(help), TRUE);
    g_object_set_data(G_OBJECT(window), HELP, help);
  }
  gtk_window_present(GTK_WINDOW(help));
}
